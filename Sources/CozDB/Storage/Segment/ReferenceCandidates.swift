// Finds the fields of a segment that may refer to other fields. Compares samples of their first
// values, so that the work grows with the values and not with the pairs of fields.

/// The fields that each field may refer to, decided from samples for the whole segment. A field
/// refers only to columns with smaller numbers, so there are no cycles, and through at most
/// `SegmentFormat.referenceDepthMax` blocks.
struct ReferenceCandidates {
    private struct Entry {
        var referenced: [ColumnID] = []
        /// All referenced columns so far, current or not: blocks on disk may refer to them.
        var allReferenced: [ColumnID] = []
        /// The columns that have this one among `allReferenced`.
        var followers: [ColumnID] = []
        var sampleCount = 0
        /// Columns that had the same value in some samples.
        var candidates: [Candidate] = []
        /// The longest chain of references from this field, and to this field.
        var depth = 0
        var height = 0
    }

    private struct Candidate {
        var column: UInt32
        var matches: UInt32
    }

    private var entries: [Entry] = []
    /// By column: matches in the current chunk; all 0 between two columns.
    private var matches: [UInt32] = []
    /// The number of lookups and comparisons so far.
    private(set) var stepCount = 0

    fileprivate static let chunkSampleCount = 16
    private static let sampleCountMax = 64
    private static let referencedCountMax = 2
    /// A referenced field matches at least one in this many samples.
    private static let samplesPerMatchMax = 8
    /// The most columns of equal value that a sample is compared with, and the most candidates that
    /// a column keeps. A study has fewer columns that could match.
    static let candidateCountMax = 256

    /// The columns that a field may refer to, the likeliest first.
    func referencedColumns(of column: ColumnID) -> [ColumnID] {
        column < entries.count ? entries[column].referenced : []
    }

    /// Takes samples of a chunk.
    mutating func search(_ chunk: RowChunk) {
        let filled = chunk.filled.sorted()
        guard let last = filled.last else { return }
        while entries.count <= last { entries.append(Entry()) }
        let wanting = filled.filter {
            entries[$0].sampleCount < Self.sampleCountMax && chunk.columns[$0].type != .boolean
        }
        // A single column matches no other one, but its samples count.
        guard !wanting.isEmpty else { return }
        var samples = SampleTable(rowCount: chunk.times.count)
        let ranges = wanting.map { samples.add(chunk.columns[$0]) }
        if filled.count > 1 {
            for column in filled { samples.note(chunk.columns[column], column) }
        }
        while matches.count <= last { matches.append(0) }
        for (column, range) in zip(wanting, ranges) where !range.isEmpty {
            entries[column].sampleCount += range.count
            count(range, of: column, in: samples)
            choose(column)
        }
        stepCount += samples.stepCount
    }

    /// Counts for each other column how many samples of a column it matches.
    private mutating func count(_ range: Range<Int>, of column: ColumnID, in samples: SampleTable) {
        var touched: [UInt32] = []
        for candidate in entries[column].candidates {
            matches[Int(candidate.column)] = candidate.matches
            touched.append(candidate.column)
        }
        for sample in range {
            samples.forEachColumn(of: sample, below: column) { other in
                if matches[other] == 0 { touched.append(UInt32(truncatingIfNeeded: other)) }
                matches[other] += 1
                stepCount += 1
            }
        }
        var candidates = touched.map { Candidate(column: $0, matches: matches[Int($0)]) }
        for other in touched { matches[Int(other)] = 0 }
        if candidates.count > Self.candidateCountMax {
            candidates.sort { ($1.matches, $0.column) < ($0.matches, $1.column) }
            candidates.removeLast(candidates.count - Self.candidateCountMax)
        }
        entries[column].candidates = candidates
    }

    private mutating func choose(_ column: ColumnID) {
        let entry = entries[column]
        var found = entry.candidates.filter { candidate in
            let other = entries[Int(candidate.column)]
            return Int(candidate.matches) * Self.samplesPerMatchMax >= entry.sampleCount
                && other.sampleCount > 0
                && other.depth + 1 + entry.height <= SegmentFormat.referenceDepthMax
        }
        found.sort {
            ($1.matches, entries[Int($0.column)].depth, $0.column) < (
                $0.matches, entries[Int($1.column)].depth, $1.column
            )
        }
        found.removeLast(max(0, found.count - Self.referencedCountMax))
        let referenced = found.map { Int($0.column) }
        entries[column].referenced = referenced
        for other in referenced where !entries[column].allReferenced.contains(other) {
            entries[column].allReferenced.append(other)
            entries[other].followers.append(column)
            raiseDepth(column, to: entries[other].depth + 1)
            raiseHeight(other, to: entries[column].height + 1)
        }
        if entries[column].sampleCount >= Self.sampleCountMax { entries[column].candidates = [] }
    }

    /// Depths only grow, up to `referenceDepthMax`, so each column is visited a few times.
    private mutating func raiseDepth(_ column: ColumnID, to depth: Int) {
        guard entries[column].depth < depth else { return }
        entries[column].depth = depth
        for follower in entries[column].followers { raiseDepth(follower, to: depth + 1) }
    }

    private mutating func raiseHeight(_ column: ColumnID, to height: Int) {
        guard entries[column].height < height else { return }
        entries[column].height = height
        for other in entries[column].allReferenced { raiseHeight(other, to: height + 1) }
    }
}

/// Samples of the columns of a chunk, and for each the columns that have its value in its row.
private struct SampleTable {
    private struct Key {
        var row: UInt32
        var type: FieldType
        var word: UInt64
        /// The columns that match, ascending.
        var columns: [UInt32] = []
    }

    private var keys: [Key] = []
    /// The key number + 1 in each slot, 0 if free. The size is a power of two.
    private var slots = [UInt32](repeating: 0, count: 64)
    /// The key number of each sample.
    private var keyOfSample: [UInt32] = []
    /// Rows with samples: as a list, and as bits.
    private var sampledRows: [UInt32] = []
    private var isSampled: BitVector
    private(set) var stepCount = 0

    init(rowCount: Int) {
        isSampled = BitVector(count: rowCount)
    }

    /// Takes samples of a column.
    ///
    /// - Returns: their numbers.
    mutating func add(_ column: ChunkColumn) -> Range<Int> {
        let first = keyOfSample.count
        let count = min(column.rows.count, ReferenceCandidates.chunkSampleCount)
        for sample in 0..<count {
            let index = sample * column.rows.count / count
            let (row, word) = (column.rows[index], column.words[index])
            guard ChunkColumn.isComparable(word, column.type) else { continue }
            if slots.count < 2 * (keys.count + 1) { grow() }
            let slot = slot(row, word, column.type)
            if slots[slot] == 0 {
                keys.append(Key(row: row, type: column.type, word: word))
                slots[slot] = UInt32(truncatingIfNeeded: keys.count)
            }
            keyOfSample.append(slots[slot] - 1)
            if !isSampled[Int(row)] {
                isSampled[Int(row)] = true
                sampledRows.append(row)
            }
        }
        return first..<keyOfSample.count
    }

    /// Records which samples a column matches. Columns come by ascending number.
    mutating func note(_ values: ChunkColumn, _ column: ColumnID) {
        guard values.type != .boolean else { return }
        if sampledRows.count * 16 < values.rows.count {
            for row in sampledRows {
                if let word = values.word(at: row) { note(row, word, values.type, column) }
            }
        } else {
            for index in values.rows.indices where isSampled[Int(values.rows[index])] {
                note(values.rows[index], values.words[index], values.type, column)
            }
        }
    }

    private mutating func note(
        _ row: UInt32, _ word: UInt64, _ type: FieldType, _ column: ColumnID
    ) {
        stepCount += 1
        let number = slots[slot(row, word, type)]
        guard number > 0 else { return }
        let key = Int(number) - 1
        guard keys[key].columns.count < ReferenceCandidates.candidateCountMax else { return }
        keys[key].columns.append(UInt32(truncatingIfNeeded: column))
    }

    /// Calls the body with the columns below `column` that match a sample, ascending.
    func forEachColumn(of sample: Int, below column: ColumnID, _ body: (ColumnID) -> Void) {
        for other in keys[Int(keyOfSample[sample])].columns {
            if other >= column { return }
            body(ColumnID(other))
        }
    }

    /// The slot of a key, or the free slot for it.
    private func slot(_ row: UInt32, _ word: UInt64, _ type: FieldType) -> Int {
        let mask = slots.count - 1
        var slot = SampleTable.hash(row, word) & mask
        while slots[slot] != 0 {
            // Compared in place: a copy of the key would retain its columns.
            let key = Int(slots[slot]) - 1
            if keys[key].word == word, keys[key].row == row, keys[key].type == type { return slot }
            slot = (slot + 1) & mask
        }
        return slot
    }

    private static func hash(_ row: UInt32, _ word: UInt64) -> Int {
        let mixed = (word ^ UInt64(row) &* 0x9E37_79B9_7F4A_7C15)
            .multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return Int(truncatingIfNeeded: mixed.high ^ mixed.low)
    }

    private mutating func grow() {
        slots = [UInt32](repeating: 0, count: slots.count * 2)
        let mask = slots.count - 1
        for (number, key) in keys.enumerated() {
            var slot = SampleTable.hash(key.row, key.word) & mask
            while slots[slot] != 0 { slot = (slot + 1) & mask }
            slots[slot] = UInt32(truncatingIfNeeded: number + 1)
        }
    }
}
