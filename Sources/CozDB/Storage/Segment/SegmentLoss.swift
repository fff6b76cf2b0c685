// Says which data cannot be read without a block of a segment: experiment, fields, series, times.
// What it needs of the segment to say so may be damaged too; then it says as much as is left.

extension SegmentReader {
    /// What is lost with the block at a place.
    func lost(at place: BlockPlace) -> String {
        guard let part = part(at: place) else { return lost(rows: 0..<footer.rowCount) }
        return lost(part)
    }

    /// What is lost with a part.
    func lost(_ part: SegmentPart) -> String {
        let all = 0..<footer.rowCount
        switch part {
        case .timeDirectory, .seriesDirectory: return lost(rows: all)
        case .series(let block): return lost(rows: rows(ofSeriesBlock: block))
        case .times(let block):
            return lost(rows: (try? timeBlocks())?.rows(ofBlock: block) ?? all)
        case .smallDirectories:
            let fields = footer.fields.indices.filter { footer.fields[$0].smallBlockCount > 0 }
            return lost(fields: dependents(of: fields, rows: all), rows: all)
        case .presence(let group):
            return lost(fields: dependents(of: fields(ofGroup: group), rows: all), rows: all)
        case .fieldDirectory(let field):
            return lost(fields: dependents(of: [field], rows: all), rows: all)
        case .dictionary(let field):
            return lost(fields: dependents(of: [field], rows: all), rows: all)
        case .values(let field, let block):
            let directory = try? directory(field)
            let rows = directory?.rows(ofBlock: block) ?? all
            let count = directory?.table.int(BlockColumn.count, block)
            return lost(fields: dependents(of: [field], rows: rows), rows: rows, count: count)
        }
    }

    /// The rows of a block of the series table, as its directory says.
    func rows(ofSeriesBlock block: Int) -> Range<Int> {
        let all = 0..<footer.rowCount
        guard let directory = try? seriesDirectory() else { return all }
        let first = directory.int(SeriesColumn.firstRow, block)
        let next = block + 1
        let end =
            next < directory.count
            ? directory.int(SeriesColumn.firstRow, next) : footer.rowCount
        return (max(0, first)..<max(0, first, end)).clamped(to: all)
    }

    /// The fields whose rows a presence vector says, also as the whole that others are a part of.
    func fields(ofGroup group: Int) -> [Int] {
        footer.fields.indices.filter { field in
            if footer.fields[field].group == group { return true }
            guard let vector = try? presence(ofField: field) else { return false }
            return (0..<vector.chunkCount).contains { chunk in
                (try? vector.whole(ofChunk: chunk)) == group
            }
        }
    }

    /// Some fields, and those that repeat them in these rows.
    func dependents(of fields: [Int], rows: Range<Int>) -> [Int] {
        var found = Set(fields)
        // A field repeats only fields with smaller numbers: one pass finds all.
        for field in footer.fields.indices where !found.contains(field) {
            guard let directory = try? directory(field) else { continue }
            for block in directory.blocks(rows: rows) {
                guard let column = try? repeatedColumn(directory.table, block: block),
                    let partner = self.field(column), found.contains(partner)
                else { continue }
                found.insert(field)
                break
            }
        }
        return found.sorted()
    }

    /// The column that a block repeats; nil for all other blocks.
    func repeatedColumn(_ table: IntegerTable, block: Int) throws(DatabaseError) -> ColumnID? {
        guard table.int(BlockColumn.encoding, block) == Int(BlockEncoding.same.rawValue) else {
            return nil
        }
        return try read(SegmentReader.place(table, block)) { bytes throws(FormatError) in
            try readSameColumn(bytes)
        }
    }
}

// MARK: Words

extension SegmentReader {
    private func lost(rows: Range<Int>) -> String {
        "experiment \"\(footer.experimentName)\", all fields, "
            + LossText.counted(rows.count, "row") + ", " + seriesText(rows) + ", " + timeText(rows)
    }

    private func lost(fields: [Int], rows: Range<Int>, count: Int? = nil) -> String {
        let names = fields.map { footer.fields[$0].column.name }
        let values = count.map { LossText.counted($0, "value") + ", " } ?? ""
        return "experiment \"\(footer.experimentName)\", "
            + (names.count == 1 ? "field " : "fields ") + LossText.list(names, of: names.count)
            + ", " + values + seriesText(rows) + ", " + timeText(rows)
    }

    private func timeText(_ rows: Range<Int>) -> String {
        var (first, last) = (footer.firstTime, footer.lastTime)
        if rows.count < footer.rowCount, let directory = try? timeBlocks() {
            let blocks = directory.blocks(rows: rows)
            let firsts = directory.table.columns[BlockColumn.firstTime][blocks]
            let lasts = directory.table.columns[BlockColumn.lastTime][blocks]
            first = firsts.map { Int64(bitPattern: $0) }.min() ?? first
            last = lasts.map { Int64(bitPattern: $0) }.max() ?? last
        }
        return LossText.span(first, last)
    }

    /// The series that have these rows.
    private func seriesText(_ rows: Range<Int>) -> String {
        let isAll = rows.count == footer.rowCount
        guard let directory = try? seriesDirectory() else {
            return isAll
                ? "\(footer.seriesCount) series whose names cannot be read"
                : "series whose names cannot be read"
        }
        var names: [String] = []
        var count = 0
        var isWhole = true
        for block in 0..<directory.count where self.rows(ofSeriesBlock: block).overlaps(rows) {
            // Of all series the first few names are enough.
            if isAll, names.count >= LossText.nameCountMax { break }
            let before = count
            do throws(DatabaseError) {
                try forEachSeries(directory, block: block) { key, range, _, _ in
                    guard range.overlaps(rows) else { return }
                    count += 1
                    guard names.count < LossText.nameCountMax else { return }
                    names.append(SeriesKey(canonical: [UInt8](copying: key)).shortText)
                }
            } catch {
                isWhole = false
                count = before + directory.int(SeriesColumn.count, block)
            }
        }
        if isAll { count = footer.seriesCount }
        if names.isEmpty { return "up to \(count) series whose names cannot be read" }
        return "series " + LossText.list(names, of: max(count, names.count))
            + (isWhole ? "" : " (not all can be named)")
    }
}

extension SeriesKey {
    /// The participant where there is no other tag, else all tags.
    var shortText: String {
        let tags = tags
        if tags.count == 1 { return tags[0].value }
        return tags.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
    }
}
