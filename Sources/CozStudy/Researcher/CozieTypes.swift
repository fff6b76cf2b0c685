// Chooses the types of CSV columns, because the file does not declare them.

internal import CozDB
internal import CozImport

/// Chooses field types in this order: the stored type; text for answers (`q_*`); the declared type;
/// the type from an earlier file of the import; the catalogue; the values of the whole column.
struct CozieTypes {
    private let schema: ExperimentSchema?
    private let options: ImportOptions
    private var decided: [[UInt8]: FieldType] = [:]

    /// - Parameters:
    ///   - schema: of the experiment, if it exists.
    ///   - options: a renamed field has the type of its stored name.
    init(_ schema: ExperimentSchema?, _ options: ImportOptions) {
        self.schema = schema
        self.options = options
    }

    /// Returns the type of a field, or nil if only the values can decide.
    ///
    /// - Parameter others: the columns beside it. A renamed column keeps its name beside one of the
    ///   new name.
    func type(of name: [UInt8], beside others: Set<[UInt8]>) -> FieldType? {
        let text = stored(name, beside: others)
        if let type = schema?.field(text)?.type { return type }
        let known = CozieCatalogue.v3.field(named: text)
        // Answers are text, even if they look like numbers: "7", "00".
        if known?.pattern == "q_*" { return .string }
        return schema?.declaration(of: text)?.type ?? decided[Array(text.utf8)]
            ?? known?.type
    }

    /// Saves the type found from the values of a file, for the following files.
    mutating func remember(_ type: FieldType, of name: [UInt8], beside others: Set<[UInt8]>) {
        decided[Array(stored(name, beside: others).utf8)] = type
    }

    private func stored(_ name: [UInt8], beside others: Set<[UInt8]>) -> String {
        let own = String(decoding: name, as: UTF8.self)
        let stored = options.storedName(of: own)
        return others.contains(Array(stored.utf8)) ? own : stored
    }
}

/// The kinds of values seen in a column.
struct CozieColumnValues {
    private var hasNumber = false
    private var hasInfinity = false
    private var hasNotANumber = false
    private var hasBoolean = false
    /// Whether the type is final.
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

    /// The type that fits all values. Nil for a column without values.
    var type: FieldType? {
        if hasText { return .string }
        if hasBoolean { return hasNumber || hasInfinity || hasNotANumber ? .string : .boolean }
        if hasNumber { return .float }
        // Only `inf` or `NaN`, which may as well be words.
        return hasInfinity || hasNotANumber ? .string : nil
    }
}
