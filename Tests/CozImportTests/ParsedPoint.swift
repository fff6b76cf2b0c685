// What a batch holds, in a form that tests compare.

@testable internal import CozDB
@testable internal import CozImport

/// One point as the parser delivered it.
struct ParsedPoint: Equatable {
    var experiment: String
    var tags: [String: String]
    var time: Int64
    var fields: [String: FieldValue]
    var line = 0
}

/// Points and refusals of one or more batches.
struct ParsedInput: Equatable {
    var points: [ParsedPoint] = []
    var refusals: [Refusal] = []

    mutating func add(_ batch: borrowing WriteBatch) {
        refusals += batch.refusals
        var start = 0
        for row in batch.rows {
            let tagSet = batch.receivedTagSet(Int(row.tagSet))
            var point = ParsedPoint(
                experiment: batch.experiments.text(tagSet.experiment), tags: [:], time: row.time,
                fields: [:], line: row.line)
            for tag in tagSet.tags { point.tags[tag.name] = tag.value }
            for cell in batch.cells[start..<Int(row.cellEnd)] {
                let column = batch.receivedColumn(Int(cell.column))
                point.fields[column.name] =
                    switch column.type {
                    case .float: .float(Double(bitPattern: cell.bits))
                    case .integer: .integer(Int64(bitPattern: cell.bits))
                    case .boolean: .boolean(cell.bits != 0)
                    case .string: .string(batch.text(cell.bits))
                    }
            }
            points.append(point)
            start = Int(row.cellEnd)
        }
    }
}

/// Parses bytes that arrive in chunks of the sizes that `nextSize` gives.
func parse(
    _ bytes: [UInt8], options: LineProtocolParser.Options = LineProtocolParser.Options(),
    batchRows: Int = 10_000, nextSize: () -> Int = { 1 << 20 }
) throws -> ParsedInput {
    var parser = LineProtocolParser(options: options)
    var input = ParsedInput()
    var batch = WriteBatch()
    batch.source = "test.lp"
    var offset = 0
    while true {
        switch try parser.parse(into: &batch, points: batchRows) {
        case .needsInput where offset < bytes.count:
            let end = min(bytes.count, offset + max(1, nextSize()))
            parser.append(bytes.span.extracting(offset..<end))
            offset = end
        case .needsInput:
            parser.finish()
        case .batchFull:
            input.add(batch)
            batch.removeAll()
        case .finished:
            input.add(batch)
            return input
        }
    }
}

func parse(
    _ text: String, options: LineProtocolParser.Options = LineProtocolParser.Options()
) throws -> ParsedInput {
    try parse(Array(text.utf8), options: options)
}

/// The only point of a text that holds one.
func onePoint(
    _ text: String, options: LineProtocolParser.Options = LineProtocolParser.Options()
) throws -> ParsedPoint? {
    let input = try parse(text, options: options)
    return input.points.count == 1 && input.refusals.isEmpty ? input.points[0] : nil
}

/// The reason and column of the only refusal of a text.
func refusal(
    _ text: String, options: LineProtocolParser.Options = LineProtocolParser.Options()
) throws -> String? {
    let input = try parse(text, options: options)
    guard input.points.isEmpty, input.refusals.count == 1 else { return nil }
    return "\(input.refusals[0].column): \(input.refusals[0].reason)"
}
