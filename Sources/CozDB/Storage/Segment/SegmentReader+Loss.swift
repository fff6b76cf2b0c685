// Describes what is lost with a block of a segment: experiment, fields, series, times. Damage in
// the segment's own directories makes the description less specific.

extension SegmentReader {
    /// Describes what is lost with the block at a handle.
    func lost(at handle: BlockHandle) -> String {
        let segment = SegmentReader(quiet: self, without: handle)
        guard let part = segment.part(at: handle) else {
            return segment.lost(rows: 0..<footer.rowCount)
        }
        return segment.lost(part)
    }

    /// Describes what is lost with a damaged part. Call it on a quiet reader.
    func lost(_ part: SegmentPart) -> String {
        let all = 0..<footer.rowCount
        var damage = SegmentDamage()
        switch part {
        case .timeDirectory, .seriesDirectory: return lost(rows: all)
        case .series(let block): return lost(rows: rows(ofSeriesBlock: block))
        case .times(let block):
            return lost(rows: (try? timeBlocks())?.rows(ofBlock: block) ?? all)
        case .smallDirectories:
            damage.fields = Set(
                footer.fields.indices.filter { footer.fields[$0].smallBlockCount > 0 })
        case .presence(let group): damage = self.damage(ofGroup: group)
        case .fieldDirectory(let field): damage.fields = [field]
        case .dictionary(let field): damage.dictionaries = [field]
        case .values(let field, let block):
            damage.blocks = [SegmentDamage.Block(field: field, block: block)]
        }
        guard let loss = try? SegmentLoss(of: damage, in: self) else { return lost(rows: all) }
        return lost(loss)
    }

    /// The rows of a block of the series table, according to its directory.
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

    /// The damage that a damaged presence vector causes: its own fields, and the blocks of other
    /// fields whose vectors are stored as parts of it.
    func damage(ofGroup group: Int) -> SegmentDamage {
        var damage = SegmentDamage()
        for field in footer.fields.indices {
            if footer.fields[field].group == group {
                damage.fields.insert(field)
                continue
            }
            guard let vector = try? presence(ofField: field), let directory = try? directory(field)
            else { continue }
            for chunk in vector.chunks where chunk.whole == group {
                for block in directory.blocks(rows: chunk.rows) {
                    damage.blocks.insert(SegmentDamage.Block(field: field, block: block))
                }
            }
        }
        return damage
    }

    /// The column that a reference block refers to; nil for all other blocks.
    func repeatedColumn(_ table: BlockTable, block: Int) throws(DatabaseError) -> ColumnID? {
        guard table.encoding(block) == BlockEncoding.same.rawValue else {
            return nil
        }
        return try read(table.handle(block)) { bytes throws(FormatError) in
            try readSameColumn(bytes)
        }
    }
}

// MARK: Descriptions

extension SegmentReader {
    private func lost(rows: Range<Int>) -> String {
        "experiment \"\(footer.experimentName)\", all fields, "
            + LossText.counted(rows.count, "row") + ", " + seriesText([rows]) + ", "
            + timeText([rows])
    }

    private func lost(_ loss: SegmentLoss) -> String {
        let indices = footer.fields.indices.filter { loss.all(ofField: $0) != nil }
        guard !indices.isEmpty else { return lost(rows: 0..<footer.rowCount) }
        let text = lost(indices.map { ($0, loss.all(ofField: $0) ?? SegmentLoss.Field()) })
        return loss.emptied.isEmpty ? text : text + ", and " + emptiedText(loss)
    }

    private func lost(_ fields: [(index: Int, lost: SegmentLoss.Field)]) -> String {
        let names = fields.map { footer.fields[$0.index].column.name }
        let count = fields.reduce(0) { $0 + $1.lost.valueCount }
        let rows = SegmentLoss.united(fields.flatMap(\.lost.ranges))
        return "experiment \"\(footer.experimentName)\", "
            + (names.count == 1 ? "field " : "fields ") + LossText.list(names, of: names.count)
            + ", " + LossText.counted(count, "value") + ", " + seriesText(rows) + ", "
            + timeText(rows)
    }

    /// Describes the losses that damage causes in other blocks, one text per field.
    func consequences(_ loss: SegmentLoss) -> [String] {
        var texts: [String] = []
        for field in footer.fields.indices {
            if let lost = loss.dependent[field] { texts.append(self.lost([(field, lost)])) }
        }
        if !loss.emptied.isEmpty {
            texts.append(
                emptiedText(loss) + ", " + seriesText(loss.emptied) + ", " + timeText(loss.emptied))
        }
        return texts
    }

    private func emptiedText(_ loss: SegmentLoss) -> String {
        let count = loss.emptied.reduce(0) { $0 + $1.count }
        let fields = loss.emptiedValues.keys.sorted()
        let text = LossText.counted(count, "row") + " without any remaining field"
        if fields.isEmpty { return text }
        let values = LossText.counted(loss.emptiedValues.values.reduce(0, +), "value")
        let names = fields.map { footer.fields[$0].column.name }
        return text + ", with \(values) of " + LossText.list(names, of: names.count)
    }

    private func timeText(_ rows: [Range<Int>]) -> String {
        var (first, last) = (footer.firstTime, footer.lastTime)
        let count = rows.reduce(0) { $0 + $1.count }
        if count < footer.rowCount, let directory = try? timeBlocks() {
            let blocks = rows.flatMap { directory.blocks(rows: $0) }
            first = blocks.map(directory.firstTime).min() ?? first
            last = blocks.map(directory.lastTime).max() ?? last
        }
        return LossText.span(first, last)
    }

    /// Describes the series that have these rows.
    ///
    /// - Parameter rows: ascending ranges.
    private func seriesText(_ rows: [Range<Int>]) -> String {
        let isAll = rows.reduce(0) { $0 + $1.count } == footer.rowCount
        func isAffected(_ range: Range<Int>) -> Bool {
            let index = rows.partitioningIndex { $0.upperBound > range.lowerBound }
            return index < rows.count && rows[index].overlaps(range)
        }
        guard let directory = try? seriesDirectory() else {
            return isAll
                ? "\(footer.seriesCount) series with unreadable names"
                : "series with unreadable names"
        }
        var names: [String] = []
        var count = 0
        var isWhole = true
        for block in 0..<directory.count where isAffected(self.rows(ofSeriesBlock: block)) {
            // If all series are lost, the first few names are enough.
            if isAll, names.count >= LossText.nameCountMax { break }
            let before = count
            do throws(DatabaseError) {
                for entry in try series(block: block) where isAffected(entry.rows) {
                    count += 1
                    if names.count < LossText.nameCountMax { names.append(entry.key.text) }
                }
            } catch {
                isWhole = false
                count = before + directory.int(SeriesColumn.count, block)
            }
        }
        if isAll { count = footer.seriesCount }
        if names.isEmpty { return "up to \(count) series with unreadable names" }
        return "series " + LossText.list(names, of: max(count, names.count))
            + (isWhole ? "" : " (some names are unreadable)")
    }
}
