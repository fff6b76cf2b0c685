// Builds the presence vectors of a segment. Fields with values in the same rows share one vector,
// which is encoded once.

/// The presence vectors of all columns of a segment under construction.
///
/// All columns start in group 0, which has no rows. A group splits when its columns differ.
/// Unchecked: one thread at a time uses it.
final class PresenceGroups: @unchecked Sendable {
    private var groups: [PresenceWriter] = [PresenceWriter()]
    /// The group of each column; 0 before its first value.
    private var groupOfColumn: [Int] = []
    /// The number of columns in each group, except for group 0.
    private var memberCounts = [0]
    private var encoder = PresenceEncoder()
    /// The number of row lists that were compared so far.
    private(set) var comparisonCount = 0

    /// Adds the rows of a chunk that have each column.
    func append(_ chunk: RowChunk) {
        know(chunk.columns.count)
        // If every column of a group has values here, the first of them keeps the group. Otherwise
        // the group stays with the columns that have none.
        var filledCounts: [Int: Int] = [:]
        for column in chunk.filled { filledCounts[groupOfColumn[column], default: 0] += 1 }
        var isTaken: Set<Int> = [0]
        for (group, count) in filledCounts where count < memberCounts[group] {
            isTaken.insert(group)
        }
        // For each group and list of rows, one column that stands for all columns with that list.
        var parts: [PartKey: [ColumnID]] = [:]
        var firsts: [ColumnID] = []
        for column in chunk.filled {
            let rows = chunk.columns[column].rows
            let group = groupOfColumn[column]
            let key = PartKey(group: group, hash: hash(rows))
            let known = parts[key]?.first {
                comparisonCount += 1
                return areEqual(chunk.columns[$0].rows, rows)
            }
            if let known {
                move(column, to: groupOfColumn[known])
                continue
            }
            if !isTaken.insert(group).inserted { part(column) }
            parts[key, default: []].append(column)
            firsts.append(column)
        }
        for column in firsts {
            groups[groupOfColumn[column]].append(
                chunk.columns[column].rows, from: chunk.firstRow, with: &encoder)
        }
    }

    private struct PartKey: Hashable {
        var group: Int
        var hash: UInt64
    }

    /// Adds rows of one column, after the rows that it has.
    func append(_ rows: [UInt32], of column: ColumnID) {
        know(column + 1)
        let group = groupOfColumn[column]
        if group == 0 || memberCounts[group] > 1 { part(column) }
        groups[groupOfColumn[column]].append(rows, from: 0, with: &encoder)
    }

    /// Ends all vectors. Returns the bytes of each column's vector, by column number.
    func finish(rowCount: Int) -> [[UInt8]] {
        for group in groups.indices { groups[group].finish(rowCount: rowCount, with: &encoder) }
        return groupOfColumn.map { groups[$0].bytes }
    }

    private func know(_ columnCount: Int) {
        while groupOfColumn.count < columnCount { groupOfColumn.append(0) }
    }

    /// Gives a column its own group, with the rows it has so far.
    private func part(_ column: ColumnID) {
        groups.append(groups[groupOfColumn[column]])
        memberCounts.append(0)
        move(column, to: groups.count - 1)
    }

    private func move(_ column: ColumnID, to group: Int) {
        memberCounts[groupOfColumn[column]] -= 1
        memberCounts[group] += 1
        groupOfColumn[column] = group
    }
}

/// Encodes one presence vector; docs/format/segment.md.
private struct PresenceWriter {
    private var writer = ByteWriter()
    private var chunk = 0
    /// Rows of the chunk, counted from its first row.
    private var positions: [UInt16] = []

    var bytes: [UInt8] { writer.bytes }

    /// Appends rows, which ascend over all calls.
    mutating func append(
        _ array: [UInt32], from firstRow: Int, with encoder: inout PresenceEncoder
    ) {
        let rows = array.span
        var start = 0
        while start < rows.count {
            let rowChunk = (firstRow + Int(rows[start])) / SegmentFormat.presenceChunkRows
            if rowChunk != chunk {
                flush(rowCount: SegmentFormat.presenceChunkRows, with: &encoder)
                chunk = rowChunk
            }
            let chunkEnd = (chunk + 1) * SegmentFormat.presenceChunkRows - firstRow
            var end = rows.count
            if Int(rows[end - 1]) >= chunkEnd {
                end = firstIndex(in: rows, notBefore: UInt32(chunkEnd), from: start)
            }
            let base = UInt32(truncatingIfNeeded: firstRow)
            positions.append(addingCapacity: end - start) { output in
                for index in start..<end {
                    output.append(UInt16(truncatingIfNeeded: base &+ rows[index]))
                }
            }
            start = end
        }
    }

    mutating func finish(rowCount: Int, with encoder: inout PresenceEncoder) {
        let start = chunk * SegmentFormat.presenceChunkRows
        flush(rowCount: min(SegmentFormat.presenceChunkRows, rowCount - start), with: &encoder)
    }

    private mutating func flush(rowCount: Int, with encoder: inout PresenceEncoder) {
        guard !positions.isEmpty else { return }
        var vector = ByteWriter()
        encoder.encode(positions.span, rowCount: rowCount, into: &vector)
        writer.appendVarint(chunk)
        writer.appendVarint(positions.count)
        writer.appendBlob(vector.bytes)
        positions.removeAll(keepingCapacity: true)
    }
}
