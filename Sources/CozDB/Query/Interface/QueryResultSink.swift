// The streaming interface for query results: statements, their series, and rows in batches of typed
// columns. `QueryResult` collects a whole result.

/// A consumer of query results, called while they are computed.
///
/// For each statement the calls are `beginStatement`, `columns`; for each series `beginSeries`, any
/// number of `rows`, `endSeries`; then `endStatement`. A failing statement ends with its error,
/// possibly in the middle of a series, and no further call follows. An error thrown by the sink
/// ends the query with that error.
public protocol QueryResultSink {
    /// Starts a statement.
    ///
    /// - Parameter index: position of the statement in the text, from 0.
    mutating func beginStatement(_ index: Int) throws(DatabaseError)
    /// Receives the columns of the result, which all its series have. An empty result has columns,
    /// too; only that of SHOW, DELETE or DROP has none. Does nothing by default.
    mutating func columns(_ columns: [ResultColumn]) throws(DatabaseError)
    /// Starts a series.
    ///
    /// - Parameter series: name, tags and columns of the rows that follow.
    mutating func beginSeries(_ series: ResultSeries) throws(DatabaseError)
    /// Receives rows of the current series. A batch is never empty; its columns match the series.
    mutating func rows(_ batch: ResultBatch) throws(DatabaseError)
    /// Ends the current series.
    mutating func endSeries() throws(DatabaseError)
    /// Ends the current statement.
    ///
    /// - Parameter error: the cause if the statement failed; nil otherwise.
    mutating func endStatement(_ error: DatabaseError?) throws(DatabaseError)
}

extension QueryResultSink {
    /// Does nothing.
    public mutating func columns(_ columns: [ResultColumn]) throws(DatabaseError) {}
}

/// One column of a result.
public struct ResultColumn: Hashable, Sendable {
    /// The column name, unique in the result: a second `mean` is `mean_1`.
    public var name: String
    /// The type of the values; nil if the column has none, as for an unknown field.
    public var type: FieldType?
    /// Whether the values are times: integers in nanoseconds since 1970.
    public var isTime: Bool
    /// The tag that the column shows, by its own name; nil for other columns. It differs from
    /// `name` if a field has the same name: `SELECT *` then calls the tag `name_1`.
    public var tag: String?

    /// Creates a column.
    ///
    /// - Parameters:
    ///   - name: the column name, unique in the result.
    ///   - type: nil if the column has no values.
    ///   - isTime: whether the values are nanoseconds since 1970 UTC.
    ///   - tag: the tag's own name if the column shows a tag.
    public init(name: String, type: FieldType?, isTime: Bool = false, tag: String? = nil) {
        self.name = name
        self.type = type
        self.isTime = isTime
        self.tag = tag
    }

    /// Names are compared byte by byte.
    public static func == (left: ResultColumn, right: ResultColumn) -> Bool {
        Name(left.name) == Name(right.name) && left.type == right.type
            && left.isTime == right.isTime
            && left.tag.map { Name($0) } == right.tag.map { Name($0) }
    }

    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(Name(name))
        hasher.combine(tag.map { Name($0) })
    }
}

/// The header of a result series.
public struct ResultSeries: Sendable {
    /// The experiment; empty for results that belong to none, such as SHOW SERIES.
    public var name: String
    /// The GROUP BY tags in byte order of their names; a missing tag has an empty value.
    public var tags: [(name: String, value: String)]
    /// The columns in the order of the statement, with the time column, if any, first.
    public var columns: [ResultColumn]
    /// The zone of `tz()`, used to print times; nil means UTC.
    public var zone: TimeZoneRules?

    /// Creates a series header.
    ///
    /// - Parameters:
    ///   - name: the experiment; empty if the result belongs to none.
    ///   - tags: the GROUP BY tags in byte order of their names.
    ///   - columns: the columns in the order of the statement.
    ///   - zone: nil means UTC.
    public init(
        name: String, tags: [(name: String, value: String)] = [], columns: [ResultColumn],
        zone: TimeZoneRules? = nil
    ) {
        self.name = name
        self.tags = tags
        self.columns = columns
        self.zone = zone
    }
}

/// A batch of rows of a series, stored by column.
public struct ResultBatch: Sendable {
    /// The columns of the series, each with `count` values.
    public var columns: [ResultVector]
    /// The number of rows.
    public var count: Int

    /// Creates a batch.
    ///
    /// - Parameters:
    ///   - columns: each with `count` values.
    ///   - count: number of rows.
    public init(columns: [ResultVector], count: Int) {
        self.columns = columns
        self.count = count
    }
}

/// The values of a string column: each different string once, and for each row which one it has.
public struct TextDictionary: Sendable {
    /// The different strings, in the order in which they first appear.
    public var texts: [String] = []
    /// For each row an index in `texts`; -1 for a null.
    public var codes: [Int32] = []
}

/// Nullable values of one type in row order.
public struct ResultVector: Sendable {
    /// The type of the values; nil if every value is null.
    public internal(set) var type: FieldType?
    var bits: [UInt64]
    var isPresent: [Bool]
    var strings: StringTable

    init(
        type: FieldType?, bits: [UInt64] = [], isPresent: [Bool] = [], strings: StringTable = .empty
    ) {
        self.type = type
        self.bits = bits
        self.isPresent = isPresent
        self.strings = strings
    }

    /// The number of values, including nulls.
    public var count: Int { isPresent.count }

    /// Returns whether the value of a row is null. Rows count from 0.
    public func isNull(_ row: Int) -> Bool { !isPresent[row] }

    /// Returns the value of a row; nil for null.
    public func value(_ row: Int) -> FieldValue? {
        guard let type, isPresent[row] else { return nil }
        return FieldValue(type: type, bits: bits[row], strings: strings)
    }

    /// Returns the 64 bits of a float, integer (two's complement) or boolean (0 or 1). The value
    /// must not be null.
    public func bits(_ row: Int) -> UInt64 { bits[row] }

    /// Returns the value of a string column; empty for a null and for another column.
    public func text(_ row: Int) -> String {
        type == .string && isPresent[row] ? strings.text(bits[row]) : ""
    }

    /// Calls the body with the UTF-8 bytes of a string, without creating a `String`. The bytes are
    /// valid only during the call. There are none for a null and for another column.
    public func withText<Result>(_ row: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        type == .string && isPresent[row] ? strings.withBytes(bits[row], body) : body(Span())
    }

    /// Calls the body with all values at once: their 64 bits, and whether each value is present.
    /// The bits of a null are undefined; the bits of a string are codes internal to the vector.
    /// Both spans are valid only during the call.
    public func withValues<Result>(_ body: (Span<UInt64>, Span<Bool>) -> Result) -> Result {
        let (bits, isPresent) = (bits, isPresent)
        return body(bits.span, isPresent.span)
    }

    /// Calls the body for each string that is not null, in ascending row order. The bytes are valid
    /// only during the call. Does nothing for other types.
    public func forEachText(_ body: (_ row: Int, _ text: Span<UInt8>) -> Void) {
        guard type == .string else { return }
        let (bits, isPresent) = (bits, isPresent)
        strings.forEachText(bits.span, where: isPresent.span, body)
    }

    /// Returns a range of rows.
    func part(_ rows: Range<Int>) -> ResultVector {
        if rows.count == count { return self }
        return ResultVector(
            type: type, bits: Array(bits[rows]), isPresent: Array(isPresent[rows]),
            strings: strings)
    }

    /// Floats and integers as doubles; nil for null and other types.
    public var doubles: [Double?] {
        (0..<count).map { row in
            switch value(row) {
            case .float(let number): number
            case .integer(let number): Double(number)
            default: nil
            }
        }
    }

    /// Integers; nil for null and other types.
    public var integers: [Int64?] {
        (0..<count).map { row in
            if case .integer(let number)? = value(row) { number } else { nil }
        }
    }

    /// Strings; nil for null and other types. Equal strings of a block share their memory.
    public var texts: [String?] {
        guard type == .string else { return Array(repeating: nil, count: count) }
        // A batch may be a small part of a large result, whose strings it has all.
        let knownCount = strings.count <= 4 * count ? strings.count : 0
        var known = [String?](repeating: nil, count: knownCount)
        return (0..<count).map { row in
            guard isPresent[row] else { return nil }
            guard let code = Int(exactly: bits[row]), known.indices.contains(code) else {
                return strings.text(bits[row])
            }
            if let text = known[code] { return text }
            let text = strings.text(bits[row])
            known[code] = text
            return text
        }
    }

    /// The strings as a dictionary, as columnar formats store them; nil for other types. Costs
    /// less than `texts` where values repeat, because each different one becomes a `String` once.
    public var dictionary: TextDictionary? {
        guard type == .string else { return nil }
        var dictionary = TextDictionary()
        dictionary.codes.reserveCapacity(count)
        var indexesByCode: [UInt64: Int32] = [:]
        var indexesByText: [Name: Int32] = [:]
        for row in 0..<count {
            guard isPresent[row] else {
                dictionary.codes.append(-1)
                continue
            }
            if let known = indexesByCode[bits[row]] {
                dictionary.codes.append(known)
                continue
            }
            // Different codes can stand for equal strings.
            let text = strings.text(bits[row])
            let next = Int32(dictionary.texts.count)
            let index = indexesByText[Name(text)] ?? next
            if index == next {
                indexesByText[Name(text)] = next
                dictionary.texts.append(text)
            }
            indexesByCode[bits[row]] = index
            dictionary.codes.append(index)
        }
        return dictionary
    }

    /// Booleans; nil for null and other types.
    public var booleans: [Bool?] {
        (0..<count).map { row in
            if case .boolean(let flag)? = value(row) { flag } else { nil }
        }
    }
}
