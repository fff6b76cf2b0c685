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

    /// Returns the type of a column's field, or nil if only the values can decide.
    ///
    /// - Parameter keepsName: whether another column has its new name in the row.
    func type(of column: [UInt8], keepsName: Bool) -> FieldType? {
        let name = stored(column, keepsName)
        if let type = schema?.field(name)?.type { return type }
        let known = CozieCatalogue.v3.field(named: name)
        // Answers are text, even if they look like numbers: "7", "00".
        if known?.pattern == "q_*" { return .string }
        return schema?.declaration(of: name)?.type ?? decided[Array(name.utf8)]
            ?? known?.type
    }

    /// Saves the type found from the values of a file, for the following files.
    mutating func remember(_ type: FieldType, of column: [UInt8], keepsName: Bool) {
        decided[Array(stored(column, keepsName).utf8)] = type
    }

    /// Returns the columns whose name depends on the row, because others have, or get, their new
    /// names.
    func renamed(_ header: CozieHeader) -> [Int] {
        var fields: [[UInt8]: Int] = [:]
        for (name, role) in zip(header.names, header.roles) where role == .field {
            fields[name, default: 0] += 1
            let newName = newName(of: name)
            if newName != name { fields[newName, default: 0] += 1 }
        }
        return header.names.indices.filter { index in
            let name = header.names[index]
            let newName = newName(of: name)
            return header.roles[index] == .field && newName != name && fields[newName] ?? 0 > 1
        }
    }

    /// The name under which a column is stored, unless another has it.
    func newName(of column: [UInt8]) -> [UInt8] { Array(stored(column, false).utf8) }

    private func stored(_ column: [UInt8], _ keepsName: Bool) -> String {
        let own = String(decoding: column, as: UTF8.self)
        return keepsName ? own : options.storedName(of: own)
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
