// What check, queries and repair say of a damaged part of a segment covers all that is lost by it,
// also where other blocks refer to that part.

import CozTestSupport
import Testing

@testable import CozDB

struct SegmentLossTests {
    private static let participants = ["p1", "p2", "p3"]

    /// Three series of a block of times each, whose sparse fields share blocks, and one of several
    /// blocks: texts near the times of their rows, fields that repeat others but for some values,
    /// texts in a dictionary, and an attribute.
    static let sound = Result { () throws -> (system: FaultyFileSystem, contents: Contents) in
        let system = FaultyFileSystem()
        let database = try SoundDatabase.open(system)
        var batch = WriteBatch()
        for (number, participant) in (participants + ["long"]).enumerated() {
            for row in 0..<(participant == "long" ? 1500 : 200) {
                let milliseconds = row * 60_000 + row * row * 7919 % 50_000 + number
                let time = 1_700_000_000_000_000_000 + Int64(milliseconds) * 1_000_000
                try batch.add(
                    experiment: "dev",
                    tags: ["id_participant": participant, "device": "d\(number % 2)"],
                    time: Timestamp(nanoseconds: time), fields: fields(row, number, time))
            }
        }
        _ = try database.write(batch)
        try database.close()
        return (system, try Contents(SoundDatabase.open(system, .readOnly)))
    }

    private static func fields(_ row: Int, _ number: Int, _ time: Int64) -> [String: FieldValue] {
        // Some rows have one field alone.
        if row % 11 == 3 { return ["mood": .string("mood \(row % 5)")] }
        if row % 11 == 4 { return ["heart": .float(Double(row) * 0.37)] }
        let noise = Int64((row * 7919 + number * 31) % 97)
        // With as many digits each, which is what makes them differences to the times of the rows.
        let text = Timestamp(nanoseconds: time + noise * 1_000_000 + 1000).description
        let heart = Double((row * 7919 + number) % 99991) * 1.0009765625
        var fields: [String: FieldValue] = [
            "heart": .float(heart), "heart_copy": .float(heart), "at": .string(text),
            "at_copy": .string(text),
        ]
        if row % 9 == 0 { fields["heart_copy"] = .float(heart + 1) }
        if row % 6 == 0 {
            let later = Timestamp(nanoseconds: time + noise * 3_000_000 + 1000).description
            fields["rare_at"] = .string(later)
            fields["rare_heart"] = .float(row % 36 == 0 ? heart + 1 : heart)
        }
        return fields
    }

    private func reader(_ system: FaultyFileSystem) throws -> SegmentReader {
        let manifest = try Manifest(decoding: system["db/MANIFEST"])
        let directory = try system.openDirectory("db", create: false, access: .ownerOnly)
        return try SegmentReader(
            in: directory, try #require(manifest.segments.first), databaseID: manifest.databaseID)
    }

    private func parts(
        _ reader: SegmentReader
    ) throws -> [(handle: BlockHandle, part: SegmentPart)] {
        var parts = reader.footerParts + (try reader.seriesParts()) + (try reader.timeParts())
        for field in reader.footer.fields.indices { parts += try reader.valueParts(ofField: field) }
        return parts.filter { $0.handle.sizeBytes > 0 }
    }

    private func path(_ system: FaultyFileSystem) throws -> String {
        let manifest = try Manifest(decoding: system["db/MANIFEST"])
        return SoundDatabase.path(.segment(try #require(manifest.segments.first).number))
    }

    // MARK: Words

    /// Numbers before a noun.
    private func count(_ noun: String, in text: String) -> Int {
        let words = text.split(whereSeparator: { $0 == " " || $0 == "," })
        return zip(words, words.dropFirst()).reduce(0) { sum, pair in
            pair.1 == noun || pair.1 == noun + "s" ? sum + (Int(pair.0) ?? 0) : sum
        }
    }

    /// What a text leaves out of the cells that are lost.
    private func omission(_ text: String, _ lost: [Contents.Cell]) -> String? {
        for cell in lost {
            let series = cell.series.last ?? ""
            if !text.contains("\"\(series)\""), !text.contains("unreadable names") {
                return "series \(series)"
            }
            if !text.contains("all fields"), !text.contains("\"\(cell.column)\""),
                !text.contains(" more, ")
            {
                return "field \(cell.column)"
            }
        }
        if text.contains("all fields") {
            let rows = Set(lost.map { "\($0.series) \($0.time)" }).count
            let said = count("row", in: text)
            return rows > said ? "\(rows) rows" : nil
        }
        let said = count("value", in: text)
        return lost.count > said ? "\(lost.count) values" : nil
    }

    // MARK: Tests

    @Test func `the data has what this is about`() throws {
        let (system, _) = try Self.sound.get()
        let reader = try reader(system)
        var encodings: [BlockEncoding: Int] = [:]
        var shared: Set<BlockEncoding> = []
        for field in reader.footer.fields.indices {
            let directory = try reader.directory(field)
            for block in 0..<directory.count {
                let code = directory.encoding(block)
                guard let encoding = BlockEncoding(rawValue: code) else { continue }
                encodings[encoding, default: 0] += 1
                let rows = directory.rows(ofBlock: block)
                if rows.lowerBound < 1500, rows.upperBound > 1900 { shared.insert(encoding) }
            }
        }
        #expect(encodings[.same, default: 0] > 2, "\(encodings)")
        // Series follow each other by name: the long one, then the three short ones.
        #expect(shared.isSuperset(of: [.same, .rowTime]), "\(shared) of \(encodings)")
        let kinds = Set(try parts(reader).map { "\($0.part)".prefix { $0 != "(" } })
        #expect(kinds.count == 8, "\(kinds)")
    }

    @Test func `what is said of a damaged part covers what a repair drops`() throws {
        let (sound, contents) = try Self.sound.get()
        let whole = try reader(sound)
        let path = try path(sound)
        for (handle, part) in try parts(whole) {
            let system = sound.survivor(.nothing)
            system[path][handle.offset + handle.sizeBytes / 2] ^= 4
            var plain: [CheckFinding] = []
            _ = try Database.check("db", on: system) { plain.append($0) }
            let found = try Examination.check(system)
            #expect(found.count == 1, "\(part): \(found)")
            #expect(plain.map(\.lost) == found.map(\.lost), "\(part)")
            let report = try Examination.repair(system)
            #expect(try Examination.check(system).isEmpty, "\(part)")
            let left = try Contents(SoundDatabase.open(system, .readOnly))
            #expect(left.cells.allSatisfy { contents.cells[$0.key] == $0.value }, "\(part)")
            let lost = contents.cells.keys.filter { left.cells[$0] == nil }
            #expect(!lost.isEmpty, "\(part)")
            let text = found.first?.lost ?? ""
            let omitted = omission(text, lost)
            #expect(omitted == nil, "\(part): \(omitted ?? ""); \(text)")
            try expectNotes(report, part, whole, lost)
            try expectKept(part, whole, lost)
        }
    }

    /// Fields that lose values because another one is damaged are in the report, each with their
    /// number.
    private func expectNotes(
        _ report: RepairReport, _ part: SegmentPart, _ whole: SegmentReader,
        _ lost: [Contents.Cell]
    ) throws {
        guard case .values(let field, _) = part else { return }
        let own = whole.footer.fields[field].column.name
        for (name, cells) in Dictionary(grouping: lost, by: \.column) where name != own {
            let notes = report.notes.filter { $0.contains("\"\(name)\"") }
            let said = notes.map { count("value", in: $0) }.reduce(0, +)
            #expect(said == cells.count, "\(part), \(name): \(report.lines)")
            for series in Set(cells.map { $0.series.last ?? "" }) {
                #expect(notes.contains { $0.contains("\"\(series)\"") }, "\(report.lines)")
            }
        }
    }

    /// Values that do not need what is damaged stay, in whatever blocks they are.
    private func expectKept(
        _ part: SegmentPart, _ whole: SegmentReader, _ lost: [Contents.Cell]
    ) throws {
        let byColumn = Dictionary(grouping: lost, by: \.column).mapValues(\.count)
        switch part {
        case .times(let block):
            let rows = Set(lost.map { "\($0.series) \($0.time)" })
            #expect(rows.count == (try whole.timeBlocks().rows(ofBlock: block).count), "\(part)")
        case .values(let field, let block):
            let count = try whole.directory(field).valueCount(block)
            let own = whole.footer.fields[field].column.name
            #expect(byColumn[own] == count, "\(part)")
            #expect(byColumn.allSatisfy { $0.value <= count }, "\(part): \(byColumn)")
        default: break
        }
    }

    @Test func `a query says the same, and reads what does not need the damaged part`() throws {
        let (sound, _) = try Self.sound.get()
        let whole = try reader(sound)
        let path = try path(sound)
        for (handle, part) in try parts(whole) {
            let rows: Range<Int>
            switch part {
            case .times(let block): rows = try whole.timeBlocks().rows(ofBlock: block)
            case .values(let field, let block):
                rows = try whole.directory(field).rows(ofBlock: block)
            default: continue
            }
            let system = sound.survivor(.nothing)
            system[path][handle.offset + handle.sizeBytes / 2] ^= 4
            let finding = try #require(try Examination.check(system).first)
            let database = try SoundDatabase.open(system, .readOnly)
            let series = try whole.keptSeries() ?? []
            #expect(series.count == 4)
            for entry in series {
                let name = entry.key.text
                for column in whole.footer.fields.map(\.column.name) {
                    let isNamed =
                        finding.lost.contains("\"\(column)\"")
                        || finding.lost.contains("all fields")
                    for statement in [
                        "SELECT \(column) FROM dev WHERE id_participant = '\(name)'",
                        "SELECT mode(\(column)) FROM dev WHERE id_participant = '\(name)'",
                    ] {
                        do {
                            _ = try database.query(statement)
                        } catch {
                            #expect(error.message == finding.found + "; lost: " + finding.lost)
                            #expect(
                                entry.rows.overlaps(rows) && isNamed,
                                "\(part), \(statement): \(finding.lost)")
                        }
                    }
                }
            }
        }
    }

    @Test func `with a presence vector goes what is a part of it, and no more`() throws {
        let system = FaultyFileSystem()
        let chunkRows = SegmentFormat.presenceChunkRows
        let database = try SoundDatabase.open(system)
        var batch = WriteBatch()
        var rng = SeededRandom(seed: 11)
        var counts = ["whole": 0, "part": 0, "behind": 0]
        for row in 0..<(chunkRows + 4000) {
            var fields = ["always": FieldValue.integer(1)]
            let isWhole = Int.random(in: 0..<4, using: &rng) == 0
            if isWhole { fields["whole"] = .integer(Int64(row)) }
            // Of few of its rows in the first chunk, elsewhere in the second.
            if row < chunkRows ? isWhole && row % 3 != 0 : !isWhole {
                fields["part"] = .integer(Int64(row) * 3)
                if row >= chunkRows { counts["behind", default: 0] += 1 }
            }
            for name in fields.keys { counts[name, default: 0] += 1 }
            try batch.add(
                experiment: "m", tags: ["id_participant": "p"],
                time: Timestamp(nanoseconds: Int64(row) * 1_000_000_000), fields: fields)
        }
        _ = try database.write(batch)
        try database.close()
        let whole = try reader(system)
        let fields = whole.footer.fields
        let field = try #require(fields.firstIndex { $0.column.name == "part" })
        let damaged = try #require(fields.firstIndex { $0.column.name == "whole" })
        let vector = try whole.presence(ofField: field)
        #expect(vector.chunks[0].whole == fields[damaged].group, "its rows are a part")
        #expect(vector.chunks[1].whole == nil)
        let handle = whole.footer.groups[fields[damaged].group]
        system[try path(system)][handle.offset + handle.sizeBytes / 2] ^= 4

        let found = try Examination.check(system)
        #expect(found.count == 1)
        let text = found.first?.lost ?? ""
        #expect(text.contains("\"part\"") && text.contains("\"whole\""), "\(text)")
        func count(_ condition: String = "") throws -> Int64? {
            let text = "SELECT count(part) FROM m WHERE id_participant = 'p'" + condition
            let series = try SoundDatabase.open(system, .readOnly).query(text).series
            return series.first?.columns.last?.integers.first ?? nil
        }
        let behind = Int64(try #require(counts["behind"]))
        // The first block of the second chunk may have values of the first one too.
        let least = behind - Int64(SegmentFormat.blockCountMax)
        let report = try Examination.repair(system)
        #expect(try Examination.check(system).isEmpty)
        let kept = try count() ?? 0
        #expect(least <= kept && kept <= behind, "\(report.lines)")
        let lost = Int64(counts["part", default: 0] + counts["whole", default: 0]) - kept
        #expect(self.count("value", in: text) == Int(lost), "\(text); \(report.lines)")
    }
}
