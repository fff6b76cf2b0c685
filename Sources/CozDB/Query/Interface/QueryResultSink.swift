// The answer of a query on its way out: statements, their series, their rows in batches of typed
// columns. Nothing is collected here; QueryResult does that for those who want it.

/// Takes the answer as it is computed.
///
/// Calls come in this order: for each statement `beginStatement`, then for each series
/// `beginSeries`, any number of `rows`, `endSeries`, then `endStatement`. A statement that fails
/// ends with its error, in the middle of a series where that is where it failed; nothing follows.
/// What a call throws ends the query with that error.
public protocol QueryResultSink {
    /// - Parameter index: position of the statement in the text, from 0.
    mutating func beginStatement(_ index: Int) throws(DatabaseError)
    /// - Parameter series: name, tags and columns of the rows that follow.
    mutating func beginSeries(_ series: ResultSeries) throws(DatabaseError)
    /// Some rows of the series begun last: never none, columns as announced.
    mutating func rows(_ batch: ResultBatch) throws(DatabaseError)
    /// After the last rows of a series.
    mutating func endSeries() throws(DatabaseError)
    /// - Parameter error: why the statement failed; nil where it did not.
    mutating func endStatement(_ error: DatabaseError?) throws(DatabaseError)
}

/// One column of an answer.
public struct ResultColumn: Hashable, Sendable {
    /// Unique in the answer: a second `mean` is `mean_1`.
    public var name: String
    /// The type of its values; nil where no value can come (a field that nobody knows).
    public var type: FieldType?
    /// Whether the values are times: integers, nanoseconds since 1970.
    public var isTime: Bool
    /// The tag that the column shows, under its own name: `SELECT *` calls a tag that a field has
    /// the name of `name_1`. Nil for every other column.
    public var tag: String?

    /// - Parameters:
    ///   - type: nil where no value can come.
    ///   - isTime: whether the values are nanoseconds since 1970 UTC.
    ///   - tag: its own name where the column shows a tag.
    public init(name: String, type: FieldType?, isTime: Bool = false, tag: String? = nil) {
        self.name = name
        self.type = type
        self.isTime = isTime
        self.tag = tag
    }
}

/// What is known of a series before its first row.
public struct ResultSeries: Sendable {
    /// The experiment; empty for answers that belong to none, such as SHOW SERIES.
    public var name: String
    /// The tags of GROUP BY, in byte order of their names; missing ones are empty.
    public var tags: [(name: String, value: String)]
    /// In the order of the statement; times, where there are any, come first.
    public var columns: [ResultColumn]
    /// The zone of `tz()`, in whose offset times are to be printed; nil means UTC.
    public var zone: TimeZoneRules?

    /// - Parameters:
    ///   - tags: of GROUP BY, in byte order of their names.
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

/// Some rows of a series, column by column.
public struct ResultBatch: Sendable {
    /// As many as the series has, each with `count` values.
    public var columns: [ResultVector]
    /// Number of rows.
    public var count: Int

    /// - Parameters:
    ///   - columns: each with `count` values.
    ///   - count: number of rows.
    public init(columns: [ResultVector], count: Int) {
        self.columns = columns
        self.count = count
    }
}

/// Values of one type, any of them null, in the order of their rows.
public struct ResultVector: Sendable {
    /// Nil when every value is null.
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

    /// Number of values, nulls included.
    public var count: Int { isPresent.count }

    /// Whether the value is null. Rows count from 0.
    public func isNull(_ row: Int) -> Bool { !isPresent[row] }

    /// The value with its type; nil for null.
    public func value(_ row: Int) -> FieldValue? {
        guard let type, isPresent[row] else { return nil }
        return FieldValue(type: type, bits: bits[row], strings: strings)
    }

    /// The 64 bits of a float, integer (two's complement) or boolean (0, 1) that is not null.
    public func bits(_ row: Int) -> UInt64 { bits[row] }

    /// The value of a string column that is not null.
    public func text(_ row: Int) -> String { strings.text(bits[row]) }

    /// The same without making a `String`; the bytes are valid during the call.
    public func withText<Result>(_ row: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        strings.withBytes(bits[row], body)
    }

    /// All values at once, without a call for each: their 64 bits, meaningless where a value is
    /// null, and whether it is there. Both are valid during the call; of strings the bits are
    /// numbers that only the vector understands.
    public func withValues<Result>(_ body: (Span<UInt64>, Span<Bool>) -> Result) -> Result {
        let (bits, isPresent) = (bits, isPresent)
        return body(bits.span, isPresent.span)
    }

    /// Calls the body for each string that is not null, by ascending row; the bytes are valid
    /// during the call. Other types have none.
    public func forEachText(_ body: (_ row: Int, _ text: Span<UInt8>) -> Void) {
        guard type == .string else { return }
        let (bits, isPresent) = (bits, isPresent)
        strings.forEachText(bits.span, where: isPresent.span, body)
    }

    /// Some of the rows.
    func part(_ rows: Range<Int>) -> ResultVector {
        ResultVector(
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

    /// Strings; nil for null and other types.
    public var texts: [String?] {
        (0..<count).map { row in
            if case .string(let text)? = value(row) { text } else { nil }
        }
    }

    /// Booleans; nil for null and other types.
    public var booleans: [Bool?] {
        (0..<count).map { row in
            if case .boolean(let flag)? = value(row) { flag } else { nil }
        }
    }
}
