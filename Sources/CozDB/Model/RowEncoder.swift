// Turns a value of a program's own type into a point: `time` is its time, some properties are tags,
// and the others are fields.

/// Takes one row apart. Used again for the next one.
final class RowEncoder: Encoder {
    /// The properties that are tags.
    private let tagNames: Set<Name>
    private(set) var time: Timestamp?
    private(set) var tags: [String: String] = [:]
    private(set) var fields: [String: FieldValue] = [:]

    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(tags: [String]) {
        tagNames = Set(tags.map { Name($0) })
    }

    /// - Throws: `usage` if a property cannot be stored; the error of the row's own `encode(to:)`.
    func encode(_ row: some Encodable) throws(DatabaseError) {
        time = nil
        tags.removeAll(keepingCapacity: true)
        fields.removeAll(keepingCapacity: true)
        try DatabaseError.wrapping("a row cannot be encoded") { try row.encode(to: self) }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RowEncodingContainer(row: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingContainer(name: nil) }
    func singleValueContainer() -> any SingleValueEncodingContainer { RefusingContainer(name: nil) }

    func set<Value: Encodable>(_ value: Value, for name: String) throws(DatabaseError) {
        if name == "time" {
            guard let value = value as? Timestamp else {
                throw DatabaseError(
                    .usage, "found \(Value.self) for the property \"time\"; expected Timestamp")
            }
            time = value
            return
        }
        let field: FieldValue
        if let value = value as? any StoredAsField {
            field = try value.field(name)
        } else {
            let encoder = PropertyEncoder(name)
            try DatabaseError.wrapping("the property \"\(name)\" cannot be encoded") {
                try value.encode(to: encoder)
            }
            guard let value = encoder.value else { return }
            field = value
        }
        guard tagNames.contains(Name(name)) else {
            fields[name] = field
            return
        }
        switch field {
        case .string(let text): tags[name] = text
        case .integer(let number): tags[name] = String(number)
        case .float, .boolean:
            throw DatabaseError(
                .usage, "found \(Value.self) for the tag \"\(name)\"; expected a text or an integer"
            )
        }
    }
}

/// The properties of a row.
private struct RowEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let row: RowEncoder
    let codingPath: [any CodingKey] = []

    func encodeNil(forKey key: Key) {}

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try row.set(value, for: key.stringValue)
    }

    func nestedContainer<Other: CodingKey>(
        keyedBy type: Other.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Other> {
        KeyedEncodingContainer(RefusingKeyedContainer(name: key.stringValue))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        RefusingContainer(name: key.stringValue)
    }

    /// A superclass shares the properties of the row.
    func superEncoder() -> any Encoder { row }
    func superEncoder(forKey key: Key) -> any Encoder { row }
}

/// The value of a property whose type is not one of those that are stored as they are, such as an
/// enumeration with raw values.
private final class PropertyEncoder: Encoder, SingleValueEncodingContainer {
    private let name: String
    /// nil if the property is.
    private(set) var value: FieldValue?

    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(_ name: String) {
        self.name = name
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RefusingKeyedContainer(name: name))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingContainer(name: name) }
    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() {}

    func encode<Value: Encodable>(_ value: Value) throws {
        if let value = value as? any StoredAsField {
            self.value = try value.field(name)
        } else {
            try value.encode(to: self)
        }
    }
}

/// A container of what a row cannot have: it refuses every value.
private struct RefusingContainer: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    /// The property; nil for the row itself.
    let name: String?
    let codingPath: [any CodingKey] = []
    let count = 0

    static func refusal(_ name: String?) -> DatabaseError {
        guard let name else {
            return DatabaseError(
                .usage,
                "found a row that is a single value or a list; expected a structure whose "
                    + "properties are the time, tags and fields")
        }
        return DatabaseError(
            .usage,
            "found a structure or a list for the property \"\(name)\"; expected a number, "
                + "a text, a boolean or a Timestamp")
    }

    func encodeNil() throws { throw RefusingContainer.refusal(name) }
    func encode<Value: Encodable>(_ value: Value) throws { throw RefusingContainer.refusal(name) }

    func nestedContainer<Key: CodingKey>(
        keyedBy type: Key.Type
    ) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RefusingKeyedContainer(name: name))
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    func superEncoder() -> any Encoder { PropertyEncoder(name ?? "") }
}

private struct RefusingKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let name: String?
    let codingPath: [any CodingKey] = []

    func encodeNil(forKey key: Key) throws { throw RefusingContainer.refusal(name) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        throw RefusingContainer.refusal(name)
    }

    func nestedContainer<Other: CodingKey>(
        keyedBy type: Other.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Other> {
        KeyedEncodingContainer(RefusingKeyedContainer<Other>(name: name))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        RefusingContainer(name: name)
    }

    func superEncoder() -> any Encoder { PropertyEncoder(name ?? "") }
    func superEncoder(forKey key: Key) -> any Encoder { PropertyEncoder(name ?? "") }
}

/// A type of Swift whose values are values of a field.
private protocol StoredAsField {
    /// - Parameter name: the property's.
    func field(_ name: String) throws(DatabaseError) -> FieldValue
}

extension Double: StoredAsField {
    fileprivate func field(_ name: String) -> FieldValue { .float(self) }
}
extension Float: StoredAsField {
    fileprivate func field(_ name: String) -> FieldValue { .float(Double(self)) }
}
extension String: StoredAsField {
    fileprivate func field(_ name: String) -> FieldValue { .string(self) }
}
extension Bool: StoredAsField {
    fileprivate func field(_ name: String) -> FieldValue { .boolean(self) }
}
extension Timestamp: StoredAsField {
    fileprivate func field(_ name: String) -> FieldValue { .string(text()) }
}

extension StoredAsField where Self: FixedWidthInteger {
    fileprivate func field(_ name: String) throws(DatabaseError) -> FieldValue {
        guard let number = Int64(exactly: self) else {
            throw DatabaseError(
                .usage,
                "found \(self) for the property \"\(name)\"; expected an integer of 64 bits "
                    + "with a sign")
        }
        return .integer(number)
    }
}

extension Int: StoredAsField {}
extension Int8: StoredAsField {}
extension Int16: StoredAsField {}
extension Int32: StoredAsField {}
extension Int64: StoredAsField {}
extension UInt: StoredAsField {}
extension UInt8: StoredAsField {}
extension UInt16: StoredAsField {}
extension UInt32: StoredAsField {}
extension UInt64: StoredAsField {}

extension DatabaseError {
    /// Runs code of a caller's type, whose other errors become `usage`.
    static func wrapping<Value>(
        _ what: @autoclosure () -> String, _ body: () throws -> Value
    ) throws(DatabaseError) -> Value {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw error
        } catch let DecodingError.dataCorrupted(context) {
            throw DatabaseError(.usage, "\(what()): \(context.debugDescription)")
        } catch {
            throw DatabaseError(.usage, "\(what()): \(error)")
        }
    }
}
