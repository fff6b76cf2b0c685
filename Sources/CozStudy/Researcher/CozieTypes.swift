// The types of the columns of a CSV that says none.

internal import CozDB
internal import CozImport

/// Decides the types of fields, in this order: text for `q_*`; as the experiment stores or
/// declares the field; as an earlier file of the import had it; as the catalogue has it; as the
/// values of the whole column are.
struct CozieTypes {
    private let schema: ExperimentSchema?
    private let options: ImportOptions
    private var decided: [[UInt8]: FieldType] = [:]

    /// - Parameters:
    ///   - schema: of the experiment, where it is there already.
    ///   - options: fields that are stored under other names have the types of these.
    init(_ schema: ExperimentSchema?, _ options: ImportOptions) {
        self.schema = schema
        self.options = options
    }

    /// The type of a field, where it does not depend on the values.
    func type(of name: [UInt8]) -> FieldType? {
        let text = options.storedName(of: String(decoding: name, as: UTF8.self))
        if let type = schema?.field(text)?.type { return type }
        // Answers are text that often looks like a number: "7", "00".
        if text.utf8.starts(with: "q_".utf8) { return .string }
        return schema?.declaration(of: text)?.type ?? decided[name]
            ?? CozieCatalogue.v3.field(named: text)?.type
    }

    /// Remembers what a file's values made of a field, for the files that follow.
    mutating func remember(_ type: FieldType, of name: [UInt8]) {
        decided[name] = type
    }
}

/// What the values of one column have shown so far.
struct CozieColumnValues {
    private var hasNumber = false
    private var hasInfinity = false
    private var hasNotANumber = false
    private var hasBoolean = false
    /// Whether the type cannot change any more.
    private(set) var hasText = false

    mutating func add(_ cell: CozieCell) {
        switch cell {
        case .number(let bits):
            if Double(bitPattern: bits).isFinite { hasNumber = true } else { hasInfinity = true }
        case .boolean: hasBoolean = true
        case .notANumber: hasNotANumber = true
        case .text: hasText = true
        }
    }

    /// The type that all values have; nil for a column without values.
    var type: FieldType? {
        if hasText { return .string }
        if hasBoolean { return hasNumber || hasInfinity || hasNotANumber ? .string : .boolean }
        if hasNumber { return .float }
        // Words only: nothing says that they are numbers.
        return hasInfinity || hasNotANumber ? .string : nil
    }
}
