// The protocol of the output formats of `cozdb query`. They receive an answer in pieces and write
// each piece immediately.

internal import CozDB

enum ResultColumnKind: Equatable {
    case time
    /// A tag or an attribute.
    case tag
    /// A field or the result of an expression, with its type if it is known.
    case field(FieldType?)
}

/// The header of one series of an answer.
struct ResultHeader {
    struct Column: Equatable {
        /// The title. Aliases can make it that of another column.
        var title: String
        var kind: ResultColumnKind
        /// The name in the database if the title differs from it.
        var source: String?

        static func == (left: Column, right: Column) -> Bool {
            Name(left.title) == Name(right.title) && left.kind == right.kind
                && left.source.map { Name($0) } == right.source.map { Name($0) }
        }
    }

    /// The experiment; empty if the answer does not belong to one.
    var name = ""
    /// Whether csv and json need a column for the name, because the answer may cover several
    /// experiments.
    var showsName = false
    /// The tags of GROUP BY with their values in this series.
    var tags: [(name: String, value: String)] = []
    var columns: [Column] = []
    /// Returns the offset from UTC in seconds at a time, for `tz()`; nil for UTC.
    var zoneOffset: ((Int64) -> Int)?
}

enum ResultCell {
    case null
    /// Nanoseconds since 1970.
    case time(Int64)
    case value(FieldValue)
}

/// Writes answers in one format. The methods are called in the order of their declaration.
protocol ResultWriter: AnyObject {
    func beginStatement(_ index: Int)
    func beginSeries(_ header: ResultHeader)
    /// - Parameter cells: One cell per column of the header.
    func row(_ cells: [ResultCell])
    /// Writes several rows at once. Equivalent to a call of `row` for each of them.
    ///
    /// - Parameter isTime: Whether the integers of each column are times.
    func rows(_ batch: ResultBatch, isTime: [Bool])
    func endSeries()
    /// - Parameter error: The reason why the statement failed. Formats without a place for it
    ///   ignore it; the command also prints it on standard error.
    func endStatement(error: String?)
    /// Called after the last statement.
    func end()
    /// Called instead of all other methods if the text is not a query.
    func parseError(_ message: String)
}

extension ResultWriter {
    func parseError(_ message: String) {}

    func rows(_ batch: ResultBatch, isTime: [Bool]) {
        var cells = [ResultCell](repeating: .null, count: isTime.count)
        for row in 0..<batch.count {
            for column in cells.indices {
                cells[column] = batch.columns[column].cell(row, isTime: isTime[column])
            }
            self.row(cells)
        }
    }
}

extension ResultVector {
    func cell(_ row: Int, isTime: Bool) -> ResultCell {
        if isNull(row) { return .null }
        if isTime { return .time(Int64(bitPattern: bits(row))) }
        return value(row).map { .value($0) } ?? .null
    }

    /// Whether any value is not null.
    var hasValues: Bool {
        type != nil && withValues { _, isPresent in isPresent.indices.contains { isPresent[$0] } }
    }
}
