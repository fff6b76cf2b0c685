// Puts values of a program's own types together from the rows of a result.

/// Decodes the rows of one series. A property is a column, or a tag of GROUP BY, of its name.
final class RowDecoder: Decoder {
    private let columns: [ResultVector]
    private let header: ResultSeries
    /// The column of each name, and the tag of GROUP BY of each name that is no column.
    private var places: [Name: Int] = [:]
    private var tags: [Name: String] = [:]
    private var row = 0
    /// The names of all properties, for types that ask for them, such as dictionaries.
    private lazy var names = header.columns.map(\.name) + header.tags.map(\.name)
    /// A name that such a type takes for another one, once it has asked.
    private var mergedName: String?
    private var hasAskedForNames = false

    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(_ header: ResultSeries, _ columns: [ResultVector]) {
        self.header = header
        self.columns = columns
        for (index, column) in header.columns.enumerated() {
            places[Name(column.name)] = index
        }
        for tag in header.tags { tags[Name(tag.name)] = tag.value }
    }

    /// - Throws: `usage` if a property has no column, or one of another type; the error of the
    ///   type's own `init(from:)`.
    func rows<Row: Decodable>(_ count: Int) throws(DatabaseError) -> [Row] {
        var rows: [Row] = []
        rows.reserveCapacity(count)
        for row in 0..<count {
            self.row = row
            rows.append(
                try DatabaseError.wrapping("row \(row + 1) cannot be decoded") {
                    try Row(from: self)
                })
            if let mergedName {
                throw DatabaseError(
                    .usage,
                    "found two columns \"\(mergedName)\" in different Unicode normalizations, "
                        + "which are one key of a dictionary; select one of them, or use AS")
            }
        }
        return rows
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(RowDecodingContainer(row: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw RowDecoder.refusal }

    /// A single value is that of the only column beside the time.
    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        let places = header.columns.indices.filter { !header.columns[$0].isTime }
        guard places.count == 1, let place = places.first else { throw RowDecoder.refusal }
        return property(at: place)
    }

    private static let refusal = DatabaseError(
        .usage,
        "found a type that is a single value or an array; expected a struct or class whose "
            + "properties are columns of the result, or a result with one column beside the time")

    /// Returns the names of all properties. A dictionary would lose one of two that Swift takes for
    /// one, so this is remembered.
    fileprivate func allNames() -> [String] {
        if !hasAskedForNames {
            hasAskedForNames = true
            var known: Set<String> = []
            let spelled = Set(names.map { Name($0) }).map(\.text)
            mergedName = spelled.first { !known.insert($0).inserted }
        }
        return names
    }

    fileprivate func contains(_ name: String) -> Bool {
        places[Name(name)] != nil || tag(name) != nil
    }

    /// Whether there is no such column, or no value in it. A missing tag of GROUP BY is empty.
    fileprivate func isNull(_ name: String) -> Bool {
        if let place = places[Name(name)] { return columns[place].isNull(row) }
        return tag(name)?.isEmpty ?? true
    }

    private func tag(_ name: String) -> String? { tags[Name(name)] }

    /// What a property has the name of.
    fileprivate enum Source {
        case field
        case time
        /// Texts, even where they were written from integers.
        case tag
    }

    fileprivate func decode<Value: Decodable>(_ name: String) throws -> Value {
        if let place = places[Name(name)] { return try property(at: place).decode(Value.self) }
        guard let tag = tag(name) else {
            let names = names.map { "\"\($0)\"" }.joined(separator: ", ")
            throw DatabaseError(.usage, "the result has no column \"\(name)\"; it has \(names)")
        }
        var property = PropertyDecoder(name: name, row: row)
        property.value = .string(tag)
        property.source = .tag
        return try property.decode(Value.self)
    }

    private func property(at place: Int) -> PropertyDecoder {
        let column = header.columns[place]
        var property = PropertyDecoder(name: column.name, row: row)
        property.value = columns[place].value(row)
        property.source = column.isTime ? .time : column.tag != nil ? .tag : .field
        return property
    }
}

/// The columns of a row.
private struct RowDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let row: RowDecoder
    let codingPath: [any CodingKey] = []

    var allKeys: [Key] { row.allNames().compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { row.contains(key.stringValue) }
    func decodeNil(forKey key: Key) -> Bool { row.isNull(key.stringValue) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try row.decode(key.stringValue)
    }

    // The standard library's own forms for these two refuse them.
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
        try row.decode(key.stringValue)
    }

    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
        try row.decode(key.stringValue)
    }

    func nestedContainer<Other: CodingKey>(
        keyedBy type: Other.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Other> {
        throw RowProperty.nested(key.stringValue)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw RowProperty.nested(key.stringValue)
    }

    /// A superclass shares the columns of the row.
    func superDecoder() -> any Decoder { row }
    func superDecoder(forKey key: Key) -> any Decoder { row }
}

/// One value of a row.
private struct PropertyDecoder: Decoder, SingleValueDecodingContainer, FieldValueContainer {
    /// nil for null.
    var value: FieldValue?
    var source = RowDecoder.Source.field
    let name: String
    let row: Int
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(name: String, row: Int) {
        self.name = name
        self.row = row
    }

    func container<Key: CodingKey>(
        keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        throw RowProperty.nested(name)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw RowProperty.nested(name)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    /// A missing tag of GROUP BY is empty.
    func decodeNil() -> Bool { value == nil || source == .tag && value == .string("") }

    func fieldValue() throws -> FieldValue { try decode(FieldValue.self) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try read() }
    func decode(_ type: Int128.Type) throws -> Int128 { try read() }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try read() }

    private func read<Value: Decodable>() throws -> Value {
        if source == .time, case .integer(let nanoseconds)? = value,
            let time = Timestamp(nanoseconds: nanoseconds) as? Value
        {
            return time
        }
        guard let type = Value.self as? any ReadFromField.Type else {
            if RowProperty.isDate(Value.self) { throw RowProperty.date(name) }
            return try Value(from: self)
        }
        let place = "row \(row + 1): found"
        guard let value else {
            throw DatabaseError(
                .usage,
                "\(place) null in the column \"\(name)\"; expected \(Value.self). Make the "
                    + "property optional")
        }
        // A floating-point number counts something else.
        if source == .time, !(type is any FixedWidthInteger.Type), type != FieldValue.self {
            throw DatabaseError(
                .usage,
                "\(place) a time in the column \"\(name)\"; expected \(Value.self). Make the "
                    + "property a Timestamp")
        }
        if let value = type.init(field: value, isTag: source == .tag) as? Value { return value }
        throw DatabaseError(
            .usage,
            "\(place) \(value) in the column \"\(name)\", which is of type "
                + "\(value.type.name); expected \(Value.self)")
    }
}

/// A type of Swift that reads the value of a field or tag; nil if it cannot have the value.
private protocol ReadFromField {
    init?(field: FieldValue, isTag: Bool)
}

extension Double: ReadFromField {
    fileprivate init?(field: FieldValue, isTag: Bool) {
        switch field {
        case .float(let number): self = number
        case .integer(let number): self.init(exactly: number)
        case .string, .boolean: return nil
        }
    }
}

extension Float: ReadFromField {
    fileprivate init?(field: FieldValue, isTag: Bool) {
        guard let number = Double(field: field, isTag: isTag) else { return nil }
        self.init(number)
        // Too large for this type.
        if isInfinite, number.isFinite { return nil }
    }
}

extension String: ReadFromField {
    fileprivate init?(field: FieldValue, isTag: Bool) {
        guard case .string(let text) = field else { return nil }
        self = text
    }
}

extension Bool: ReadFromField {
    fileprivate init?(field: FieldValue, isTag: Bool) {
        guard case .boolean(let flag) = field else { return nil }
        self = flag
    }
}

extension FieldValue: ReadFromField {
    fileprivate init?(field: FieldValue, isTag: Bool) { self = field }
}

extension ReadFromField where Self: FixedWidthInteger {
    fileprivate init?(field: FieldValue, isTag: Bool) {
        switch field {
        case .integer(let number): self.init(exactly: number)
        case .float(let number): self.init(exactly: number)
        case .string(let text) where isTag: self.init(text)
        case .string, .boolean: return nil
        }
    }
}

extension Int: ReadFromField {}
extension Int8: ReadFromField {}
extension Int16: ReadFromField {}
extension Int32: ReadFromField {}
extension Int64: ReadFromField {}
extension Int128: ReadFromField {}
extension UInt: ReadFromField {}
extension UInt8: ReadFromField {}
extension UInt16: ReadFromField {}
extension UInt32: ReadFromField {}
extension UInt64: ReadFromField {}
extension UInt128: ReadFromField {}

extension QueryResult {
    /// Returns the rows of the first statement, of all its series, as values of a type of the
    /// program.
    ///
    ///     struct Rate: Decodable {
    ///         var time: Timestamp
    ///         var id_participant: String
    ///         var mean: Double?
    ///     }
    ///     let rates = try database.query(
    ///         "SELECT mean(ts_heart_rate) FROM dev GROUP BY id_participant, time(1h)"
    ///     ).rows(as: Rate.self)
    ///
    /// A property takes the column, or the tag of GROUP BY, of its name. Columns without a property
    /// are left out. An optional property is nil where the value is null or the column is missing.
    /// `Double` takes floats and integers up to 2^53, integer types whole numbers in their range,
    /// `String` and `Bool` strings and booleans, ``Timestamp`` the time of the row or an RFC 3339
    /// text, an enumeration its raw value, and ``FieldValue`` any value; the time is an integer
    /// then. Tags are strings; integer types read them, too. A type of a single value, such as
    /// `Int` or `Double?`, takes the only column beside the time, and a dictionary takes all
    /// columns:
    ///
    ///     let counts = try database.query("SELECT count(q_mood) FROM dev").rows(as: Int.self)
    ///     let rows = try database.query("SELECT * FROM dev").rows(as: [String: FieldValue?].self)
    ///
    /// A type reads its row in `init(from:)`; a decoder that it keeps reads later rows.
    ///
    /// Cost: about half a microsecond a property. ``ResultVector`` is faster.
    ///
    /// - Throws: `usage` with the column and row if a property is missing, null or of another type;
    ///   the statement's error if it failed.
    public func rows<Row: Decodable>(as type: Row.Type) throws(DatabaseError) -> [Row] {
        if let error = statements.first?.error { throw error }
        var rows: [Row] = []
        for series in series { rows += try series.rows(as: type) }
        return rows
    }
}

extension QueryResult.Series {
    /// Returns the rows as values of a type of the program, as `QueryResult.rows(as:)` does.
    ///
    /// - Throws: `usage` if a property is missing, null or of another type.
    public func rows<Row: Decodable>(as type: Row.Type) throws(DatabaseError) -> [Row] {
        try RowDecoder(header, columns).rows(rowCount)
    }
}
