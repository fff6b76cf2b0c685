// Turns a value of a program's own type into a point: `time` is its time, some properties are tags,
// and the others are fields.

/// Takes one row apart. Used again for the next one.
final class RowEncoder: Encoder {
    /// The properties that are tags.
    private let tagNames: Set<Name>
    private(set) var time: Timestamp?
    private(set) var tags: [String: String] = [:]
    private(set) var fields: [String: FieldValue] = [:]
    /// Refuses the first array or nested value that the row asked for, which may stay empty.
    private var refusal: DatabaseError?

    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    /// - Parameter tags: Properties that are tags, in addition to those of the identity.
    /// - Throws: `usage` if nothing says which properties are tags.
    init(_ identity: Identity, tags: [String], renames: [String: String] = [:])
        throws(DatabaseError)
    {
        if identity == .allTags, tags.isEmpty {
            throw DatabaseError(
                .usage,
                "found rows without names of tags; all tags identify the rows of this "
                    + "experiment, so name the properties that are tags")
        }
        var names = Set((identity.tagNames + tags).map { Name($0) })
        for (old, new) in renames where names.contains(Name(new)) { names.insert(Name(old)) }
        tagNames = names
    }

    /// - Throws: `usage` if a property cannot be stored; the error of the row's own `encode(to:)`.
    func encode(_ row: some Encodable) throws(DatabaseError) {
        time = nil
        tags.removeAll(keepingCapacity: true)
        fields.removeAll(keepingCapacity: true)
        refusal = nil
        try DatabaseError.wrapping("a row cannot be encoded") { try row.encode(to: self) }
        if let refusal { throw refusal }
    }

    /// Refuses an array or nested value, and takes what is put into it.
    ///
    /// - Parameter name: The property; nil for the row itself.
    fileprivate func refuse(_ name: String?) -> RefusedContainer {
        let what =
            if let name {
                RowProperty.nested(name)
            } else {
                DatabaseError(
                    .usage,
                    "found a row that is a single value or an array; expected a struct or class "
                        + "whose properties are the time, tags and fields")
            }
        refusal = refusal ?? what
        return RefusedContainer(row: self, name: name)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RowEncodingContainer(row: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { refuse(nil) }
    func singleValueContainer() -> any SingleValueEncodingContainer { refuse(nil) }

    func set<Value: Encodable>(_ value: Value, for name: String) throws(DatabaseError) {
        if name == "time" {
            // As rows of results have it that are decoded to field values.
            if case .integer(let nanoseconds)? = value as? FieldValue {
                time = Timestamp(nanoseconds: nanoseconds)
                return
            }
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
            if RowProperty.isDate(Value.self) { throw RowProperty.date(name) }
            let encoder = PropertyEncoder(name, of: self)
            try DatabaseError.wrapping("the property \"\(name)\" cannot be encoded") {
                try value.encode(to: encoder)
            }
            if let refusal { throw refusal }
            guard let value = encoder.value else { return }
            field = value
        }
        guard tagNames.contains(Name(name)) else {
            try RowEncoder.checkName(name, in: fields)
            fields[name] = field
            return
        }
        try RowEncoder.checkName(name, in: tags)
        switch field {
        case .string(let text): tags[name] = text
        case .integer(let number): tags[name] = String(number)
        case .float, .boolean:
            throw DatabaseError(
                .usage,
                "found \(Value.self) for the tag \"\(name)\"; expected a string or an integer")
        }
    }
}

extension RowEncoder {
    /// Refuses a name that Swift takes for another one of the row: names of columns differ by their
    /// bytes, strings of Swift by their normal form.
    private static func checkName<Value>(
        _ name: String, in known: [String: Value]
    ) throws(DatabaseError) {
        guard let index = known.index(forKey: name),
            !known.keys[index].utf8.elementsEqual(name.utf8)
        else { return }
        throw DatabaseError(
            .usage,
            "found two properties \"\(name)\" in different Unicode normalizations; expected one. "
                + "Add such fields by handles")
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

    // The standard library's own forms for these two refuse them.
    func encode(_ value: Int128, forKey key: Key) throws {
        try row.set(value, for: key.stringValue)
    }

    func encode(_ value: UInt128, forKey key: Key) throws {
        try row.set(value, for: key.stringValue)
    }

    func nestedContainer<Other: CodingKey>(
        keyedBy type: Other.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Other> {
        row.refuse(key.stringValue).keyed()
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        row.refuse(key.stringValue)
    }

    /// A superclass shares the properties of the row.
    func superEncoder() -> any Encoder { row }
    func superEncoder(forKey key: Key) -> any Encoder { row }
}

/// The value of a property whose type is not one of those that are stored as they are, such as an
/// enumeration with raw values.
private final class PropertyEncoder: Encoder, SingleValueEncodingContainer {
    private let name: String
    private let row: RowEncoder
    /// nil if the property is.
    private(set) var value: FieldValue?

    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(_ name: String, of row: RowEncoder) {
        self.name = name
        self.row = row
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        row.refuse(name).keyed()
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { row.refuse(name) }
    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() {}

    func encode<Value: Encodable>(_ value: Value) throws {
        if let value = value as? any StoredAsField {
            self.value = try value.field(name)
        } else {
            if RowProperty.isDate(Value.self) { throw RowProperty.date(name) }
            try value.encode(to: self)
        }
    }

    func encode(_ number: Int128) throws { value = try number.field(name) }
    func encode(_ number: UInt128) throws { value = try number.field(name) }
}

/// What rows are refused for, when they are written and when they are read.
enum RowProperty {
    static func nested(_ name: String) -> DatabaseError {
        DatabaseError(
            .usage,
            "found an array or a nested value for the property \"\(name)\"; expected a number, "
                + "a string, a boolean or a Timestamp")
    }

    static func date(_ name: String) -> DatabaseError {
        DatabaseError(
            .usage,
            "found a Date for the property \"\(name)\", which encodes itself as seconds since "
                + "2001; expected a Timestamp")
    }

    /// Whether a type is Foundation's `Date`, which the library does not import.
    static func isDate(_ type: Any.Type) -> Bool {
        let name = String(reflecting: type)
        return name == "Foundation.Date" || name == "FoundationEssentials.Date"
    }
}

/// An array or nested value that the row cannot have. The row is refused, so they are dropped.
private struct RefusedContainer: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    let row: RowEncoder
    let name: String?
    let codingPath: [any CodingKey] = []
    let count = 0

    func keyed<Key: CodingKey>() -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RefusedKeyedContainer(base: self))
    }

    func encodeNil() {}
    func encode<Value: Encodable>(_ value: Value) {}

    func nestedContainer<Key: CodingKey>(
        keyedBy type: Key.Type
    ) -> KeyedEncodingContainer<Key> {
        keyed()
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    func superEncoder() -> any Encoder { PropertyEncoder(name ?? "", of: row) }
}

private struct RefusedKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let base: RefusedContainer
    let codingPath: [any CodingKey] = []

    func encodeNil(forKey key: Key) {}
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) {}

    func nestedContainer<Other: CodingKey>(
        keyedBy type: Other.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Other> {
        base.keyed()
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { base }
    func superEncoder() -> any Encoder { base.superEncoder() }
    func superEncoder(forKey key: Key) -> any Encoder { base.superEncoder() }
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
extension FieldValue: StoredAsField {
    fileprivate func field(_ name: String) -> FieldValue { self }
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
extension Int128: StoredAsField {}
extension UInt: StoredAsField {}
extension UInt8: StoredAsField {}
extension UInt16: StoredAsField {}
extension UInt32: StoredAsField {}
extension UInt64: StoredAsField {}
extension UInt128: StoredAsField {}

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
