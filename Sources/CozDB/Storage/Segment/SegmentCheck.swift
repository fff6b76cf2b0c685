// Reads every byte of one segment and says what cannot be read: `cozdb check` and `inspect`.

/// Walks all blocks of a segment.
struct SegmentCheck {
    /// What is wrong at one place, and which data that costs.
    struct Problem {
        var offset: Int?
        var found: String
        var lost: String
    }

    private(set) var blockCount = 0
    private(set) var problems: [Problem] = []
    private let segment: SegmentReader
    /// Places that some block covers, to find bytes that none does.
    private var covered: [Range<Int>] = []

    init(_ segment: SegmentReader) {
        self.segment = segment
    }

    mutating func run() {
        let size = segment.info.sizeBytes
        covered = [0..<SegmentFormat.headerSizeBytes]
        checkSeries()
        checkTimes()
        for field in segment.footer.fields.indices { checkField(field) }
        for (index, group) in segment.footer.groups.enumerated() {
            let users = segment.footer.fields.filter { $0.group == index }.map(\.column.name)
            let lost = "fields \(users.joined(separator: ", "))"
            note(group, lost: "\(lost) of all series") { _ in }
            let segment = segment
            check(lost) { () throws(DatabaseError) in
                try segment.checkPresence(ofGroup: index)
            }
        }
        covered.append(segment.footerRange)
        covered.append((size - SegmentFormat.trailerSizeBytes)..<size)
        checkCoverage()
    }

    private var experiment: String { "experiment \"\(segment.footer.experimentName)\"" }

    private func span(_ first: Int64, _ last: Int64) -> String {
        "\(Timestamp(nanoseconds: first)) to \(Timestamp(nanoseconds: last))"
    }

    private mutating func note(
        _ place: BlockPlace, lost: String, _ body: (Span<UInt8>) throws(FormatError) -> Void
    ) {
        if place.sizeBytes > 0 {
            covered.append(place.offset..<(place.offset + place.sizeBytes))
            blockCount += 1
        }
        do throws(DatabaseError) {
            try segment.read(place, body)
        } catch {
            problems.append(
                Problem(offset: error.offset, found: error.message, lost: "\(experiment), \(lost)"))
        }
    }

    private mutating func checkSeries() {
        note(segment.footer.seriesDirectory, lost: "all series of this segment") { _ in }
        do throws(DatabaseError) {
            for place in try segment.seriesPlaces() {
                note(place, lost: "up to \(SegmentFormat.seriesBlockCount) series") { _ in }
            }
            var rows = 0
            try segment.forEachSeries { _, range, _, _ in rows += range.count }
            if rows != segment.footer.rowCount {
                problems.append(
                    Problem(
                        offset: segment.footer.seriesDirectory.offset,
                        found: "the series have \(rows) rows, expected \(segment.footer.rowCount)",
                        lost: "\(experiment), unknown series"))
            }
        } catch {
            problems.append(
                Problem(
                    offset: error.offset, found: error.message, lost: "\(experiment), its series"))
        }
    }

    private mutating func checkTimes() {
        note(segment.footer.smallDirectories, lost: "fields of few blocks") { _ in }
        note(segment.footer.timeDirectory, lost: "all rows of this segment") { _ in }
        guard let table = try? segment.timeDirectory() else { return }
        for block in 0..<table.count {
            let first = Int64(bitPattern: table.columns[BlockColumn.firstTime][block])
            let last = Int64(bitPattern: table.columns[BlockColumn.lastTime][block])
            note(
                SegmentReader.place(table, block),
                lost:
                    "all fields, \(table.int(BlockColumn.count, block)) rows, \(span(first, last))"
            ) { _ in }
            let segment = segment
            check("times") { () throws(DatabaseError) in
                _ = try segment.words(table, block: block, type: .integer)
            }
        }
    }

    private mutating func checkField(_ index: Int) {
        let field = segment.footer.fields[index]
        let name = "field \"\(field.column.name)\""
        note(field.directory, lost: "\(name) of all series") { _ in }
        note(field.dictionary, lost: "\(name) of all series") { _ in }
        guard let directory = try? segment.directory(index) else { return }
        if (try? segment.dictionary(index)) == nil {
            problems.append(
                Problem(
                    offset: field.dictionary.offset, found: "the dictionary cannot be decoded",
                    lost: "\(experiment), \(name) of all series"))
        }
        var reader = SegmentColumnReader(segment, field: index, directory: directory)
        for block in 0..<directory.table.count {
            let summary = directory.summary(block, type: field.column.type)
            note(
                SegmentReader.place(directory.table, block),
                lost: "\(name), \(summary.count) values, "
                    + "rows \(directory.table.int(BlockColumn.firstRow, block)) to "
                    + "\(directory.table.int(BlockColumn.lastRow, block)), "
                    + span(summary.firstTime, summary.lastTime)
            ) { _ in }
            check(name) { () throws(DatabaseError) in try reader.check(block: block) }
        }
    }

    /// Decodes a block, which may fail although its checksum is right.
    private mutating func check(_ name: String, _ decode: () throws(DatabaseError) -> Void) {
        do throws(DatabaseError) {
            try decode()
        } catch {
            let isKnown = problems.contains { $0.offset == error.offset }
            if !isKnown {
                problems.append(
                    Problem(
                        offset: error.offset, found: error.message, lost: "\(experiment), \(name)"))
            }
        }
    }

    /// Bytes that belong to no block were not written by us.
    private mutating func checkCoverage() {
        covered.sort { $0.lowerBound < $1.lowerBound }
        var end = 0
        for range in covered {
            if range.lowerBound > end {
                problems.append(
                    Problem(
                        offset: end, found: "\(range.lowerBound - end) bytes that no block covers",
                        lost: "nothing that the footer names"))
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

    /// The blocks of the series table.
    func seriesPlaces() throws(DatabaseError) -> [BlockPlace] {
        let directory = try seriesDirectory()
        return (0..<directory.count).map { SeriesColumn.place(directory, $0) }
    }
}
