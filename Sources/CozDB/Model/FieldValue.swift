// Field types and values.

/// The type of a field. Raw values are stored on disk and never change.
public enum FieldType: UInt8, CaseIterable, Sendable {
    /// 64-bit IEEE 754. NaN payloads, -0 and subnormal numbers keep their bits.
    case float = 1
    /// 64-bit signed integer.
    case integer = 2
    /// UTF-8, stored byte for byte without normalization.
    case string = 3
    /// True or false.
    case boolean = 4

    /// The name InfluxDB uses in SHOW FIELD KEYS and in casts: float, integer, string or boolean.
    public var name: String {
        switch self {
        case .float: "float"
        case .integer: "integer"
        case .string: "string"
        case .boolean: "boolean"
        }
    }

    /// Whether ALTER can change this type to another, or both are the same.
    func canBecome(_ other: FieldType) -> Bool {
        self == other || other == .string || (self == .integer && other == .float)
    }

    /// Returns the type with this name; nil for any other text.
    public init?(name: String) {
        guard let type = FieldType.allCases.first(where: { $0.name == name }) else { return nil }
        self = type
    }
}

/// A value with its type.
///
/// Two values are equal if their stored bytes are equal: floats by bit pattern, strings by their
/// UTF-8 bytes (Swift's `==` for strings compares normalized text).
public enum FieldValue: Sendable {
    /// Any bit pattern, including NaN.
    case float(Double)
    /// A 64-bit signed integer.
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
    /// Whether the stored bytes of both values are equal.
    public static func == (left: FieldValue, right: FieldValue) -> Bool {
        switch (left, right) {
        case (.float(let a), .float(let b)): a.bitPattern == b.bitPattern
        case (.integer(let a), .integer(let b)): a == b
        case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
        case (.boolean(let a), .boolean(let b)): a == b
        default: false
        }
    }

    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .float(let value): hasher.combine(value.bitPattern)
        case .integer(let value): hasher.combine(value)
        case .string(let value): for byte in value.utf8 { hasher.combine(byte) }
        case .boolean(let value): hasher.combine(value)
        }
    }
}

extension FieldValue: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByStringInterpolation
{
    /// `61.5` is a float.
    public init(floatLiteral value: Double) { self = .float(value) }
    /// `61` is an integer. Write `61.0` for a float.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// `true` and `false` are booleans.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// `"ok"` and `"\(name)"` are strings.
    public init(stringLiteral value: String) { self = .string(value) }
}

extension FieldValue: CustomStringConvertible {
    /// The value in line protocol syntax: `1.5`, `3i`, `"text"`, `true`.
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

extension Int64 {
    /// The integer that an integer field stores for a float; nil if it would be another number.
    /// -0 is no integer. Numbers below -2^63 round to it, so it may not be what was written.
    init?(exact value: Double) {
        guard let whole = Int64(exactly: value), whole != .min, value.sign == .plus || value != 0
        else { return nil }
        self = whole
    }
}

extension FieldValue {
    var textSizeBytes: Int {
        if case .string(let text) = self { text.utf8.count } else { 0 }
    }
}
