// Values in the formats of a program, such as JSON.

/// A value of a decoder that has a type of its own.
protocol FieldValueContainer {
    func fieldValue() throws -> FieldValue
}

extension FieldValue: Codable {
    /// Decodes a boolean, a number or a string. Rows of a result keep their types. In a format that
    /// does not tell integers from floats, such as JSON, a whole number in the range of `Int64` is
    /// an integer.
    ///
    /// - Throws: The decoder's error if the value is none of these.
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let value = value as? any FieldValueContainer {
            self = try value.fieldValue()
        } else if let flag = try? value.decode(Bool.self) {
            self = .boolean(flag)
        } else if let number = try? value.decode(Int64.self) {
            self = .integer(number)
        } else if let number = try? value.decode(Double.self) {
            self = .float(number)
        } else {
            self = .string(try value.decode(String.self))
        }
    }

    /// Encodes the value without its type: a boolean, a number or a string.
    ///
    /// - Throws: The encoder's error, such as that of JSON for a float that is not finite.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .float(let number): try container.encode(number)
        case .integer(let number): try container.encode(number)
        case .string(let text): try container.encode(text)
        case .boolean(let flag): try container.encode(flag)
        }
    }
}
