// The four types a value can have, and one value of any of them.

/// The type of a field. Raw values are stored on disk and never change.
public enum FieldType: UInt8, CaseIterable, Sendable {
    /// 64-bit IEEE 754; NaN payloads, -0 and subnormal numbers keep their bits.
    case float = 1
    /// Signed 64-bit.
    case integer = 2
    /// UTF-8; bytes are kept as they came, no normalisation.
    case string = 3
    /// True or false.
    case boolean = 4

    /// The name InfluxDB uses in SHOW FIELD KEYS and in casts: float, integer, string, boolean.
    public var name: String {
        switch self {
        case .float: "float"
        case .integer: "integer"
        case .string: "string"
        case .boolean: "boolean"
        }
    }

    /// Whether ALTER can have made another type of this one, or it is the same.
    func canBecome(_ other: FieldType) -> Bool {
        self == other || other == .string || (self == .integer && other == .float)
    }

    /// The type of this name, as `name` gives it; nil for any other word.
    public init?(name: String) {
        guard let type = FieldType.allCases.first(where: { $0.name == name }) else { return nil }
        self = type
    }
}

/// One value with its type.
///
/// Two values are equal when the database would store the same bytes for them: doubles by their
/// bits, strings by their UTF-8 (Swift's own `==` on strings ignores normalisation).
public enum FieldValue: Sendable {
    /// Any bits, NaN too.
    case float(Double)
    /// Signed, 64 bits.
    case integer(Int64)
    /// UTF-8, at most `DatabaseOptions.stringSizeBytesMax` bytes.
    case string(String)
    /// True or false.
    case boolean(Bool)

    /// The type of the value.
    public var type: FieldType {
        switch self {
        case .float: .float
        case .integer: .integer
        case .string: .string
        case .boolean: .boolean
        }
    }
}

extension FieldValue: Hashable {
    /// Whether the same bytes would be stored for both.
    public static func == (left: FieldValue, right: FieldValue) -> Bool {
        switch (left, right) {
        case (.float(let a), .float(let b)): a.bitPattern == b.bitPattern
        case (.integer(let a), .integer(let b)): a == b
        case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
        case (.boolean(let a), .boolean(let b)): a == b
        default: false
        }
    }

    /// Agrees with `==`.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .float(let value): hasher.combine(value.bitPattern)
        case .integer(let value): hasher.combine(value)
        case .string(let value): for byte in value.utf8 { hasher.combine(byte) }
        case .boolean(let value): hasher.combine(value)
        }
    }
}

extension FieldValue: CustomStringConvertible {
    /// The value as line protocol writes it: `1.5`, `3i`, `"text"`, `true`.
    public var description: String {
        switch self {
        case .float(let value): return value.description
        case .integer(let value): return "\(value)i"
        case .boolean(let value): return value ? "true" : "false"
        case .string(let value):
            var text = "\""
            for scalar in value.unicodeScalars {
                if scalar == "\"" || scalar == "\\" { text.unicodeScalars.append("\\") }
                text.unicodeScalars.append(scalar)
            }
            return text + "\""
        }
    }
}
