// Reads every byte of one segment once and reports what is unreadable, for `cozdb check` and the
// first step of `cozdb repair`.
//
// Decodes directories, series and dictionaries. Verifies the checksums of presence, times and
// values, many blocks per read and on all cores; decoding these is optional.

/// The unreadable parts of a segment.
struct SegmentDamage: Sendable {
    struct Block: Hashable, Sendable {
        var field: Int
        var block: Int
    }

    /// Rows that are lost whole, because their times or series are unreadable.
    var rows: [Range<Int>] = []
    /// Fields that are lost whole.
    var fields: Set<Int> = []
    /// Fields that lose the blocks with codes of their dictionary.
    var dictionaries: Set<Int> = []
    var blocks: Set<Block> = []

    mutating func formUnion(_ other: SegmentDamage) {
        rows += other.rows
        fields.formUnion(other.fields)
        dictionaries.formUnion(other.dictionaries)
        blocks.formUnion(other.blocks)
    }
}

/// Checks all blocks of a segment.
struct SegmentCheck {
    /// The damage of one block, with the data that is lost.
    struct Problem: Sendable {
        var offset: Int?
        var text: LossText
    }

    private(set) var blockCount = 0
    private(set) var problems: [Problem] = []
    private(set) var damage = SegmentDamage()
    private let segment: SegmentReader
    /// A quiet reader, for describing losses.
    private let quiet: SegmentReader
    private let file: any File
    private let databaseID: UInt64
    /// The ranges of all blocks, to find bytes outside of them.
    private var covered: [Range<Int>] = []
    /// The blocks of presence, times and values.
    private var parts: [(handle: BlockHandle, part: SegmentPart)] = []
    private var knownOffsets: Set<Int> = []
    /// Why the system refused a read, which is no evidence of damage.
    private var refusal: DatabaseError?

    /// - Parameter file: the file of the segment.
    init(_ segment: SegmentReader, _ file: any File, databaseID: UInt64) {
        self.segment = segment
        quiet = SegmentReader(quiet: segment)
        self.file = file
        self.databaseID = databaseID
    }

    /// - Parameter decodes: whether to decode presence, times and values too.
    mutating func run(decodes: Bool) throws(DatabaseError) {
        checkSeries()
        checkTimes()
        for entry in segment.footerParts {
            if case .presence = entry.part { parts.append(entry) } else { cover(entry.handle) }
        }
        for field in segment.footer.fields.indices { checkField(field) }
        try checkBlocks()
        if problems.isEmpty { checkCoverage() }
        if decodes {
            decodePresence()
            decodeBlocks()
        }
        if let refusal { throw refusal }
    }

    /// Reads one part. Returns nil if that fails.
    private mutating func attempt<Result>(
        _ body: (SegmentReader) throws(DatabaseError) -> Result
    ) -> Result? {
        do throws(DatabaseError) {
            return try body(segment)
        } catch {
            add(error)
            return nil
        }
    }

    /// Adds a problem. Reports each offset once.
    private mutating func add(_ error: DatabaseError) {
        if error.isRefusal { refusal = error }
        guard knownOffsets.insert(error.offset ?? -1).inserted else { return }
        var text = LossText(message: error.message)
        // Without the times, the whole segment is lost.
        if text.lost.isEmpty { text.lost = segment.lost(.timeDirectory) }
        problems.append(Problem(offset: error.offset, text: text))
    }

    private mutating func cover(_ handle: BlockHandle) {
        guard handle.sizeBytes > 0, isInside(handle) else { return }
        covered.append(handle.offset..<(handle.offset + handle.sizeBytes))
        blockCount += 1
    }

    private func isInside(_ handle: BlockHandle) -> Bool {
        let size = segment.info.sizeBytes
        return handle.offset >= 0 && handle.sizeBytes >= 0 && handle.offset <= size
            && handle.sizeBytes <= size - handle.offset
    }

    // MARK: Decoded parts

    private mutating func checkSeries() {
        let footer = segment.footer
        guard footer.seriesCount > 0 else { return }
        let found = attempt { (segment) throws(DatabaseError) in try segment.seriesParts() }
        guard let found else { return damage.rows.append(0..<footer.rowCount) }
        // If all blocks are intact, they cover all rows from the first to the last.
        for (block, entry) in found.enumerated() {
            cover(entry.handle)
            let series = attempt { (segment) throws(DatabaseError) in
                try segment.series(block: block)
            }
            if series == nil { damage.rows.append(segment.rows(ofSeriesBlock: block)) }
        }
    }

    private mutating func checkTimes() {
        if let found = attempt({ (segment) throws(DatabaseError) in try segment.timeParts() }) {
            parts += found
        } else {
            damage.rows.append(0..<segment.footer.rowCount)
        }
    }

    private mutating func checkField(_ index: Int) {
        if let handles = attempt({ (segment) throws(DatabaseError) in
            try segment.valueParts(ofField: index)
        }) {
            parts += handles
        } else {
            damage.fields.insert(index)
        }
        if attempt({ (segment) throws(DatabaseError) in try segment.dictionary(index) }) == nil {
            damage.dictionaries.insert(index)
        }
    }

    // MARK: Checksums

    /// The size of one read of several blocks; fits the cache of a core.
    private static let readSizeBytes = 256 << 10
    /// The number of reads that one thread does in sequence, into the same buffer.
    private static let readsInRow = 16

    private mutating func checkBlocks() throws(DatabaseError) {
        for entry in parts where !isInside(entry.handle) { note(entry.part, at: entry.handle) }
        parts = parts.filter { isInside($0.handle) }
        parts.sort { $0.handle.offset < $1.handle.offset }
        for entry in parts { cover(entry.handle) }
        let (parts, groups) = (parts, readGroups())
        let bad = Monitor<(parts: [Int], failure: DatabaseError?)>(([], nil))
        let (file, segment, databaseID) = (file, segment, databaseID)
        let rowCount = (groups.count + SegmentCheck.readsInRow - 1) / SegmentCheck.readsInRow
        Cores.perform(iterations: rowCount) { index in
            let first = index * SegmentCheck.readsInRow
            let row = groups[first..<min(first + SegmentCheck.readsInRow, groups.count)]
            var reader = BlockVerifier(file, databaseID: databaseID, number: segment.info.number)
            do throws(DatabaseError) {
                for group in row {
                    let found = try reader.damaged(parts[group].map(\.handle))
                    if found.isEmpty { continue }
                    bad.withLock { $0.parts += found.map { group.lowerBound + $0 } }
                }
            } catch {
                bad.withLock { $0.failure = error }
            }
        }
        let (found, failure) = bad.withLock { ($0.parts.sorted(), $0.failure) }
        if let failure { throw failure }
        for index in found { note(parts[index].part, at: parts[index].handle) }
    }

    /// Groups consecutive blocks into reads.
    private func readGroups() -> [Range<Int>] {
        var groups: [Range<Int>] = []
        var start = 0
        for index in parts.indices {
            let end = parts[index].handle.offset + parts[index].handle.sizeBytes
            if end - parts[start].handle.offset > SegmentCheck.readSizeBytes, index > start {
                groups.append(start..<index)
                start = index
            }
        }
        if start < parts.count { groups.append(start..<parts.count) }
        return groups
    }

    /// Records a damaged block, unless reading it again succeeds.
    private mutating func note(_ part: SegmentPart, at handle: BlockHandle) {
        // The same message as for a query that reads the block.
        let found: Void? = attempt { [quiet] _ throws(DatabaseError) in
            do throws(DatabaseError) {
                try quiet.read(handle) { _ in }
            } catch {
                throw error.isSystemCallFailure ? error : error.losing(quiet.lost(part))
            }
        }
        if found != nil { return }
        switch part {
        case .times(let block):
            if let directory = try? segment.timeBlocks() {
                damage.rows.append(directory.rows(ofBlock: block))
            }
        case .values(let field, let block):
            damage.blocks.insert(SegmentDamage.Block(field: field, block: block))
        case .presence(let group): damage.formUnion(segment.damage(ofGroup: group))
        default: break
        }
    }

    // MARK: Optional decoding

    private mutating func decodePresence() {
        var damaged: Set<Int> = []
        // Supersets before their subsets: a subset of a damaged vector is lost with it.
        for isPart in [false, true] {
            for group in segment.footer.groups.indices where !damaged.contains(group) {
                let known = damaged
                let found: Void? = attempt { (segment) throws(DatabaseError) in
                    try segment.checkPresence(ofGroup: group) { whole in
                        isPart == (whole != nil) && !(whole.map(known.contains) ?? false)
                    }
                }
                if found != nil { continue }
                damaged.insert(group)
                damage.formUnion(segment.damage(ofGroup: group))
            }
        }
    }

    /// Decodes all blocks. A block may fail to decode although its checksum is right.
    private mutating func decodeBlocks() {
        guard let times = try? segment.timeBlocks() else { return }
        for block in 0..<times.count {
            let words = attempt { (segment) throws(DatabaseError) in
                try segment.words(times, block: block, type: .integer)
            }
            if words == nil { damage.rows.append(times.rows(ofBlock: block)) }
        }
        checkOrder(times)
        for field in segment.footer.fields.indices where !damage.fields.contains(field) {
            guard var reader = try? SegmentColumnReader(segment, field: field) else { continue }
            for block in 0..<reader.directory.count {
                do throws(DatabaseError) {
                    try reader.check(block: block)
                    // The damage is in the block referred to, not in this one.
                    if let error = reader.missing?.error { add(error) }
                } catch {
                    add(error)
                    // If a reference block fails, the damage may be in the block referred to.
                    let isOwn = error.offset == reader.directory.offset(block)
                    guard isOwn || !reader.directory.isReference(block) else { continue }
                    damage.blocks.insert(SegmentDamage.Block(field: field, block: block))
                }
            }
        }
    }

    /// Reports blocks in which the times of a series do not ascend within the bounds in the series
    /// directory. A merge could not handle such rows.
    private mutating func checkOrder(_ times: BlockTable) {
        guard let directory = try? segment.seriesDirectory() else { return }
        for block in 0..<directory.count {
            // Unreadable blocks, of series and below of times, were reported before.
            for entry in (try? segment.series(block: block)) ?? [] {
                var previous: Int64?
                for block in times.blocks(rows: entry.rows) {
                    guard let found = try? segment.times(block: block) else { continue }
                    let blockRows = times.rows(ofBlock: block)
                    var latest = previous
                    let isOrdered = entry.rows.clamped(to: blockRows).allSatisfy { row in
                        let time = found[row - blockRows.lowerBound]
                        let isLater = latest.map { time > $0 } ?? (time >= entry.firstTime)
                        latest = time
                        return isLater && time <= entry.lastTime
                    }
                    if isOrdered {
                        previous = latest
                        continue
                    }
                    damage.rows.append(blockRows)
                    var error = segment.timesOutOfOrder
                    error.offset = times.offset(block)
                    add(error.losing(quiet.lost(.times(block: block))))
                }
            }
        }
    }

    /// Reports bytes outside of all blocks. The writer leaves none.
    private mutating func checkCoverage() {
        let size = segment.info.sizeBytes
        covered.append(0..<SegmentFormat.headerSizeBytes)
        covered.append(segment.footerRange)
        covered.append((size - SegmentFormat.trailerSizeBytes)..<size)
        covered.sort { $0.lowerBound < $1.lowerBound }
        var end = 0
        for range in covered {
            if range.lowerBound > end {
                let text = "\(range.lowerBound - end) bytes outside all blocks"
                problems.append(
                    Problem(
                        offset: end,
                        text: LossText(found: text, lost: "nothing that the footer names")))
            }
            end = max(end, range.upperBound)
        }
    }
}

extension SegmentReader {
    /// The handle of the footer.
    var footerRange: Range<Int> {
        let end = info.sizeBytes - SegmentFormat.trailerSizeBytes
        return (end - footerSizeBytes)..<end
    }
}
