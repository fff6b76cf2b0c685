// What all output formats of `cozdb query` have in common: they get answers piece by piece and
// write each piece at once.

internal import CozDB

/// What a column of an answer is.
enum ResultColumnKind: Equatable {
    case time
    /// A tag, or an attribute.
    case tag
    /// A field or the result of an expression, with its type where that is known.
    case field(FieldType?)
}

/// What stands before the rows of one series of an answer.
struct ResultHeader {
    struct Column: Equatable {
        /// The title, unique in the answer.
        var title: String
        var kind: ResultColumnKind
        /// The name in the database, where the title had to differ from it.
        var source: String?
    }

    /// The experiment, where the answer belongs to one.
    var name = ""
    /// Whether formats without a place for the name (csv, json) need a column for it, because one
    /// answer can hold several.
    var showsName = false
    /// Tags of GROUP BY with the values of this series.
    var tags: [(name: String, value: String)] = []
    var columns: [Column] = []
    /// Offset from UTC in seconds at a time, for `tz()`; nil for UTC.
    var zoneOffset: ((Int64) -> Int)?

    /// Tags of GROUP BY that are not selected as well, under names that no column has: beside a
    /// column `x` of something else the tag x is `x_1`, as in `SELECT *`.
    var leadingTags: [(name: String, value: String)] {
        tags.compactMap { tag in
            let isShown = columns.contains { column in
                guard case .tag = column.kind else { return false }
                return column.title == tag.name && (column.source ?? column.title) == tag.name
            }
            if isShown { return nil }
            var (name, number) = (tag.name, 0)
            while columns.contains(where: { $0.title == name })
                || number > 0 && tags.contains(where: { $0.name == name })
            {
                number += 1
                name = "\(tag.name)_\(number)"
            }
            return (name, tag.value)
        }
    }
}

/// One cell of an answer.
enum ResultCell {
    case null
    /// Nanoseconds since 1970.
    case time(Int64)
    case value(FieldValue)
}

/// Writes answers in one format. Calls come in the order in which they are listed.
protocol ResultFormat: AnyObject {
    func beginStatement(_ index: Int)
    func beginSeries(_ header: ResultHeader)
    /// - Parameter cells: one per column of the header.
    func row(_ cells: [ResultCell])
    /// Several rows at once, as the engine has them; the same as `row` for each of them.
    ///
    /// - Parameter isTime: for each column, whether its integers are times.
    func rows(_ batch: ResultBatch, isTime: [Bool])
    func endSeries()
    /// - Parameter error: why the statement failed; formats with no place for it leave it out, as
    ///   the command also says it on standard error.
    func endStatement(error: String?)
    /// After the last statement.
    func end()
    /// Instead of everything else: the text is not a query.
    func parseError(_ message: String)
}

extension ResultFormat {
    func parseError(_ message: String) {}

    func rows(_ batch: ResultBatch, isTime: [Bool]) {
        var cells = [ResultCell](repeating: .null, count: isTime.count)
        for row in 0..<batch.count {
            for column in cells.indices {
                let vector = batch.columns[column]
                if vector.isNull(row) {
                    cells[column] = .null
                } else if isTime[column] {
                    cells[column] = .time(Int64(bitPattern: vector.bits(row)))
                } else {
                    cells[column] = vector.value(row).map { .value($0) } ?? .null
                }
            }
            self.row(cells)
        }
    }
}
