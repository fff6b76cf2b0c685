// Random histories of a database whose manifest is then lost, or replaced by an older one: a repair
// keeps every cell that no other damage takes.

import CozTestSupport
import Foundation
import Testing

@testable import CozDB

struct RepairHistoryTests {
    /// A database and every value that its cells had.
    private final class History {
        let system = FaultyFileSystem()
        var random: SeededRandom
        private(set) var database: Database
        /// The manifests so far, oldest first.
        private(set) var manifests: [[UInt8]] = []
        private(set) var written: [Contents.Cell: Set<Double>] = [:]
        /// The values of the last write of a cell.
        private(set) var last: [Contents.Cell: Double] = [:]
        /// Whether segments were only added, so that their numbers are their order.
        private(set) var isOrdered = true
        private(set) var steps: [String] = []
        private var value = 0.0

        private static let identities: [(String, Identity, [[String: String]])] = [
            ("one", .standard, [["id_participant": "p"], ["id_participant": "q", "room": "r"]]),
            ("two", .tags(["a", "b"]), [["a": "1", "b": "2"], ["a": "1", "b": "3", "c": "x"]]),
            ("three", .allTags, [["a": "1"], ["a": "1", "b": "2"], ["c": "3"]]),
        ]
        private static let fields = ["f", "g", "h", "unknown column 1", "unknown column 2"]

        init(seed: UInt64) throws {
            random = SeededRandom(seed: seed)
            database = try SoundDatabase.open(system)
        }

        func run(_ count: Int) throws {
            for _ in 0..<count {
                try step()
                if manifests.last != system["db/MANIFEST"] {
                    manifests.append(system["db/MANIFEST"])
                }
            }
        }

        private func step() throws {
            let choice = Int.random(in: 0..<20, using: &random)
            let name = History.identities.randomElement(using: &random)?.0 ?? ""
            let field = History.fields.randomElement(using: &random) ?? ""
            let schema = try database.schemas().first { $0.name == name }
            let known = schema?.field(field)
            var statement: String?
            switch choice {
            case 0..<8: try write()
            case 8..<13:
                steps.append("flush")
                try database.flush()
            case 13:
                steps.append("compact")
                try database.compact()
                isOrdered = false
            case 14, 15:
                steps.append("reopen")
                try database.close()
                database = try SoundDatabase.open(system)
            case 16 where known != nil: statement = "DELETE \"\(field)\" FROM \(name)"
            case 17 where schema != nil:
                let time = Int64.random(in: 0..<12, using: &random)
                statement = "DELETE FROM \(name) WHERE time >= \(time)"
            case 18 where schema != nil: statement = "DROP MEASUREMENT \(name)"
            case 19 where known?.type == .integer:
                statement = "ALTER EXPERIMENT \(name) FIELD \"\(field)\" TYPE float"
            default: break
            }
            guard let statement else { return }
            steps.append(statement)
            _ = try database.execute(statement)
            isOrdered = false
        }

        private func write() throws {
            let (name, identity, tagLists) = History.identities.randomElement(using: &random)!
            var batch = WriteBatch()
            batch.settings = ExperimentSettings(identity: identity)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let tags = tagLists.randomElement(using: &random) ?? [:]
                let time = Int64.random(in: 0..<12, using: &random)
                let field = History.fields.randomElement(using: &random) ?? ""
                value += 1
                let isRefused = Int.random(in: 0..<10, using: &random) == 0
                try batch.add(
                    experiment: name, tags: tags, time: Timestamp(nanoseconds: time),
                    fields: [field: isRefused ? .string("x\(value)") : .integer(Int64(value))])
                if isRefused { continue }
                let key = tags.filter { tag in
                    identity == .allTags || identity.tagNames.contains(tag.key)
                }
                let cell = Contents.Cell(
                    experiment: name,
                    series: key.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] },
                    time: time, column: field)
                written[cell, default: []].insert(value)
                last[cell] = value
            }
            steps.append("write \(name) to value \(value)")
            _ = try database.write(batch)
        }
    }

    private enum Trouble: CaseIterable {
        case lost
        case lostWithLock
        case older
    }

    @Test func `a repair without the newest manifest keeps every cell`() throws {
        let variable = ProcessInfo.processInfo.environment["COZDB_DAMAGE"] ?? ""
        let count = Int(variable) ?? 60
        let first = TestSeed.seed() >> 32
        for seed in first..<first + UInt64(count) {
            do {
                try expect(seed)
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
    }

    private func expect(_ seed: UInt64) throws {
        let history = try History(seed: seed)
        try history.run(Int.random(in: 4..<24, using: &history.random))
        let isKilled = Bool.random(using: &history.random)
        if !isKilled { try history.database.close() }
        let system = history.system.survivor(.nothing)
        let before = try Contents(SoundDatabase.open(system, .readOnly))
        let manifests = history.manifests.filter { $0 != system["db/MANIFEST"] }
        guard !manifests.isEmpty, !before.cells.isEmpty else { return }
        let trouble = Trouble.allCases.randomElement(using: &history.random) ?? .lost
        let older = manifests.randomElement(using: &history.random) ?? []
        switch trouble {
        case .lost: system.erase("db/MANIFEST")
        case .lostWithLock:
            system.erase("db/MANIFEST")
            system.erase("db/LOCK")
        case .older: system["db/MANIFEST"] = older
        }
        var flipped: Set<String> = []
        while flipped.count < 3, Int.random(in: 0..<3, using: &history.random) == 0 {
            guard let path = flip(in: system, trouble, flipped, &history.random) else { break }
            flipped.insert(path)
        }
        let report = try Examination.repair(system)
        let what = Comment(
            rawValue: "seed \(seed), \(trouble), flipped \(flipped.sorted()), "
                + "killed \(isKilled): \(history.steps); \(report.lines)")
        #expect(try Examination.check(system).isEmpty, what)
        let repaired = try SoundDatabase.open(system, .readOnly)
        for schema in try repaired.schemas() {
            for columns in [schema.fields, schema.attributes] {
                #expect(Set(columns.map(\.name)).count == columns.count, what)
            }
        }
        try expectIdentities(repaired, what)
        let after = try Contents(repaired)
        let isSame =
            after.refusals == before.refusals && after.cells.count == before.cells.count
        // What another damage costs is said. It may undo a later value or deletion.
        #expect(isSame || report.findings.contains { flipped.contains("db/" + $0.file) }, what)
        // A name that no segment has is lost with the manifest.
        let hasNames = !report.notes.contains { $0.contains("names of") || $0.contains("unknown") }
        if hasNames, isSame { #expect(Set(after.cells.keys) == Set(before.cells.keys), what) }
        for (cell, value) in after.cells {
            // The values of fields are numbers, those of tags are texts.
            if case .string = value { continue }
            guard let known = history.written[cell] else {
                #expect(!hasNames, what)
                continue
            }
            let number = Double("\(value)".filter { $0 != "i" }) ?? .nan
            #expect(known.contains(number), what)
            if history.isOrdered, flipped.isEmpty { #expect(number == history.last[cell], what) }
        }
        try expectWritable(system, what)
        withExtendedLifetime(history) {}
    }

    /// The identity of an experiment has the tags of all its series.
    private func expectIdentities(_ database: Database, _ what: Comment) throws {
        for view in try database.takeSnapshot().experiments {
            for series in try view.series() {
                for tag in series.key.tags {
                    #expect(view.schema.identity.contains(tag.name), what)
                }
            }
        }
    }

    /// Flips a bit of a segment, or of a log that LOCK knows. Only the manifest has checksums of
    /// rejects files.
    ///
    /// - Returns: the file, if there is one.
    private func flip(
        in system: FaultyFileSystem, _ trouble: Trouble, _ flipped: Set<String>,
        _ random: inout SeededRandom
    ) -> String? {
        let suffixes = trouble == .lostWithLock ? [".seg"] : [".seg", ".wal"]
        let files = system.files.sorted().filter { suffixes.contains(String($0.suffix(4))) }
        // Without a manifest, another file must tell whose files these are.
        let others = files.filter { !flipped.contains($0) }
        guard trouble == .older || others.count > 1 else { return nil }
        guard let path = files.randomElement(using: &random) else { return nil }
        // A log has zeros behind its commits.
        let end = system[path].lastIndex { $0 != 0 } ?? 0
        // Headers and trailers are short, but each has a rule.
        let offsets = [0...end, 0...min(end, 40), max(0, end - 40)...end]
        let range = offsets.randomElement(using: &random) ?? 0...end
        system[path][Int.random(in: range, using: &random)] ^= 1
        return path
    }

    /// Writes to a repaired database, and merges.
    private func expectWritable(_ system: FaultyFileSystem, _ what: Comment) throws {
        let database = try SoundDatabase.open(system)
        let before = try Contents(database).cells.count
        var batch = WriteBatch()
        try batch.add(
            experiment: "four", tags: ["id_participant": "p"], time: Timestamp(nanoseconds: 1),
            fields: ["f": .integer(1)])
        _ = try database.write(batch)
        try database.compact()
        #expect(try Contents(database).cells.count == before + 1, what)
        try database.close()
        #expect(try Examination.check(system).isEmpty, what)
    }
}
