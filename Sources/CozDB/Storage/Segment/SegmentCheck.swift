// Reads every byte of one segment once and says what cannot be read: `cozdb check`, and the first
// step of `cozdb repair`.
//
// Directories, series and dictionaries are decoded. Of presence, times and values the checksums are
// verified, many blocks a read and on all cores; decoding them is asked for apart.

internal import Synchronization

/// Which parts of a segment cannot be read.
struct SegmentDamage: Sendable {
    struct Block: Hashable, Sendable {
        var field: Int
        var block: Int
    }

    /// Rows that are lost whole: their times or their series cannot be read.
    var rows: [Range<Int>] = []
    /// Fields that are lost whole.
    var fields: Set<Int> = []
    /// Fields that lose the blocks that refer to their dictionary.
    var dictionaries: Set<Int> = []
    var blocks: Set<Block> = []

    mutating func formUnion(_ other: SegmentDamage) {
        rows += other.rows
        fields.formUnion(other.fields)
        dictionaries.formUnion(other.dictionaries)
        blocks.formUnion(other.blocks)
    }
}

/// Walks all blocks of a segment.
struct SegmentCheck {
    /// What is wrong at one place, and which data that costs.
    struct Problem: Sendable {
        var offset: Int?
        var text: LossText
    }

    private(set) var blockCount = 0
    private(set) var problems: [Problem] = []
    private(set) var damage = SegmentDamage()
    private let segment: SegmentReader
    /// The same, to read what is put into words here.
    private let quiet: SegmentReader
    private let file: any File
    private let databaseID: UInt64
    /// Places that some block covers, to find bytes that none does.
    private var covered: [Range<Int>] = []
    /// Blocks of presence, times and values.
    private var parts: [(place: BlockPlace, part: SegmentPart)] = []
    private var knownOffsets: Set<Int> = []
    /// Why the system did not let something be read, which says nothing of what is there.
    private var refusal: DatabaseError?

    /// - Parameter file: the file of the segment.
    init(_ segment: SegmentReader, _ file: any File, databaseID: UInt64) {
        self.segment = segment
        quiet = SegmentReader(quiet: segment)
        self.file = file
        self.databaseID = databaseID
    }

    /// - Parameter decodes: whether presence, times and values are decoded too.
    mutating func run(decodes: Bool) throws(DatabaseError) {
        checkSeries()
        checkTimes()
        for (index, group) in segment.footer.groups.enumerated() {
            parts.append((group, .presence(group: index)))
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

    /// Runs something that reads one part; whether that could be done.
    @discardableResult
    private mutating func attempt(_ body: () throws(DatabaseError) -> Void) -> Bool {
        do throws(DatabaseError) {
            try body()
            return true
        } catch {
            if error.isRefusal { refusal = error }
            add(error)
            return false
        }
    }

    /// One finding for each place, however often it is met.
    private mutating func add(_ error: DatabaseError) {
        guard knownOffsets.insert(error.offset ?? -1).inserted else { return }
        var text = LossText(message: error.message)
        if text.lost.isEmpty { text.lost = segment.lostOfAll }
        problems.append(Problem(offset: error.offset, text: text))
    }

    private mutating func cover(_ place: BlockPlace) {
        guard place.sizeBytes > 0, isInside(place) else { return }
        covered.append(place.offset..<(place.offset + place.sizeBytes))
        blockCount += 1
    }

    private func isInside(_ place: BlockPlace) -> Bool {
        let size = segment.info.sizeBytes
        return place.offset >= 0 && place.sizeBytes >= 0 && place.offset <= size
            && place.sizeBytes <= size - place.offset
    }

    // MARK: What is decoded

    private mutating func checkSeries() {
        let segment = segment
        let footer = segment.footer
        cover(footer.seriesDirectory)
        guard footer.seriesCount > 0 else { return }
        var places: [(place: BlockPlace, part: SegmentPart)] = []
        guard attempt({ () throws(DatabaseError) in places = try segment.seriesParts() }) else {
            return damage.rows.append(0..<footer.rowCount)
        }
        // Where all are good they have all rows, from the first to the last.
        for (block, entry) in places.enumerated() {
            cover(entry.place)
            let isGood = attempt { () throws(DatabaseError) in
                try segment.forEachSeries(segment.seriesDirectory(), block: block) { _, _, _, _ in }
            }
            if !isGood { damage.rows.append(segment.rows(ofSeriesBlock: block)) }
        }
    }

    private mutating func checkTimes() {
        let segment = segment
        cover(segment.footer.timeDirectory)
        var places: [(place: BlockPlace, part: SegmentPart)] = []
        let isGood = attempt { () throws(DatabaseError) in places = try segment.timeParts() }
        if !isGood { damage.rows.append(0..<segment.footer.rowCount) }
        parts += places
    }

    private mutating func checkField(_ index: Int) {
        let segment = segment
        let field = segment.footer.fields[index]
        if index == 0 { cover(segment.footer.smallDirectories) }
        cover(field.directory)
        cover(field.dictionary)
        var places: [(place: BlockPlace, part: SegmentPart)] = []
        let isGood = attempt { () throws(DatabaseError) in
            places = try segment.valueParts(ofField: index)
        }
        if !isGood { damage.fields.insert(index) }
        parts += places
        let hasDictionary = attempt { () throws(DatabaseError) in
            _ = try segment.dictionary(index)
        }
        if !hasDictionary { damage.dictionaries.insert(index) }
    }

    // MARK: What is read only

    /// Bytes of blocks that are read together: they stay in the cache of a core meanwhile.
    private static let readSizeBytes = 256 << 10
    /// Reads that one thread does in a row, into the same memory.
    private static let readsInRow = 16

    private mutating func checkBlocks() throws(DatabaseError) {
        for entry in parts where !isInside(entry.place) { note(entry.part, at: entry.place) }
        parts = parts.filter { isInside($0.place) }
        parts.sort { $0.place.offset < $1.place.offset }
        for entry in parts { cover(entry.place) }
        let (parts, groups) = (parts, readGroups())
        let bad = Mutex<(parts: [Int], failure: DatabaseError?)>(([], nil))
        let (file, segment, databaseID) = (file, segment, databaseID)
        let rowCount = (groups.count + SegmentCheck.readsInRow - 1) / SegmentCheck.readsInRow
        Cores.perform(iterations: rowCount) { index in
            let first = index * SegmentCheck.readsInRow
            let row = groups[first..<min(first + SegmentCheck.readsInRow, groups.count)]
            var reader = BlockVerifier(file, databaseID: databaseID, number: segment.info.number)
            do throws(DatabaseError) {
                for group in row {
                    let found = try reader.damaged(parts[group].map(\.place))
                    if found.isEmpty { continue }
                    bad.withLock { $0.parts += found.map { group.lowerBound + $0 } }
                }
            } catch {
                bad.withLock { $0.failure = error }
            }
        }
        let (found, failure) = bad.withLock { ($0.parts.sorted(), $0.failure) }
        if let failure { throw failure }
        for index in found { note(parts[index].part, at: parts[index].place) }
    }

    /// Blocks that lie one behind the other, as many as are read at once.
    private func readGroups() -> [Range<Int>] {
        var groups: [Range<Int>] = []
        var start = 0
        for index in parts.indices {
            let end = parts[index].place.offset + parts[index].place.sizeBytes
            if end - parts[start].place.offset > SegmentCheck.readSizeBytes, index > start {
                groups.append(start..<index)
                start = index
            }
        }
        if start < parts.count { groups.append(start..<parts.count) }
        return groups
    }

    /// Notes a block that was read and is bad, unless it is good when it is read again.
    private mutating func note(_ part: SegmentPart, at place: BlockPlace) {
        // The words of a reader that meets the block.
        let isGood = attempt { [quiet] () throws(DatabaseError) in
            do throws(DatabaseError) {
                try quiet.read(place) { _ in }
            } catch {
                throw error.isSystemCallFailure ? error : error.losing(quiet.lost(part))
            }
        }
        if isGood { return }
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

    // MARK: What is asked for apart

    private mutating func decodePresence() {
        let segment = segment
        var damaged: Set<Int> = []
        // Wholes before their parts: what is a part of a damaged one goes with that.
        for isPart in [false, true] {
            for group in segment.footer.groups.indices where !damaged.contains(group) {
                let known = damaged
                let isGood = attempt { () throws(DatabaseError) in
                    try segment.checkPresence(ofGroup: group) { whole in
                        isPart == (whole != nil) && !(whole.map(known.contains) ?? false)
                    }
                }
                if isGood { continue }
                damaged.insert(group)
                damage.formUnion(segment.damage(ofGroup: group))
            }
        }
    }

    /// A block may fail to decode although its checksum is right.
    private mutating func decodeBlocks() {
        let segment = segment
        guard let times = try? segment.timeBlocks() else { return }
        for block in 0..<times.table.count {
            let isGood = attempt { () throws(DatabaseError) in
                _ = try segment.words(times.table, block: block, type: .integer)
            }
            if !isGood { damage.rows.append(times.rows(ofBlock: block)) }
        }
        for field in segment.footer.fields.indices where !damage.fields.contains(field) {
            guard let directory = try? segment.directory(field) else { continue }
            var reader = SegmentColumnReader(segment, field: field, directory: directory)
            for block in 0..<directory.table.count {
                do throws(DatabaseError) {
                    try reader.check(block: block)
                    // What a block refers to is damaged, not the block.
                    if let error = reader.missing?.error { add(error) }
                } catch {
                    if error.isRefusal { refusal = error }
                    add(error)
                    // Of a block that refers to others one of those may be the damaged one.
                    let isOwn = error.offset == directory.table.int(BlockColumn.offset, block)
                    guard isOwn || !directory.isReference(block) else { continue }
                    damage.blocks.insert(SegmentDamage.Block(field: field, block: block))
                }
            }
        }
    }

    /// Bytes that belong to no block were not written by us.
    private mutating func checkCoverage() {
        let size = segment.info.sizeBytes
        covered.append(0..<SegmentFormat.headerSizeBytes)
        covered.append(segment.footerRange)
        covered.append((size - SegmentFormat.trailerSizeBytes)..<size)
        covered.sort { $0.lowerBound < $1.lowerBound }
        var end = 0
        for range in covered {
            if range.lowerBound > end {
                let text = "\(range.lowerBound - end) bytes that no block covers"
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
    /// Where the footer lies.
    var footerRange: Range<Int> {
        let end = info.sizeBytes - SegmentFormat.trailerSizeBytes
        return (end - footerSizeBytes)..<end
    }

    /// All that the segment holds.
    var lostOfAll: String { lost(.timeDirectory) }
}
