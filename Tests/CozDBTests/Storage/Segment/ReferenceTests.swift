// The engine against the naive reference: random batches, late, out of order, twice and
// overwriting, give the same rows before and after flush, merge and reopening.

import CozTestSupport
import Testing

@testable import CozDB

struct ReferenceTests {
    static let fields: [(name: String, type: FieldType)] = [
        ("heart", .float), ("steps", .integer), ("mood", .string), ("moved", .boolean),
        ("rare", .float), ("note", .string),
    ]

    /// One workload: what was written, and where.
    struct Workload {
        var random: SeededRandom
        var reference = ReferenceDatabase()
        var attributes: [ReferenceDatabase.RowKey: String] = [:]

        mutating func value(_ type: FieldType) -> FieldValue {
            switch type {
            case .float: .float(Double(Int.random(in: -50...50, using: &random)) / 4)
            case .integer: .integer(Int64.random(in: -5...2000, using: &random))
            case .string:
                .string(
                    ["Warmer", "None", "", "00", "é\u{301}\n\"\\"].randomElement(using: &random)!)
            case .boolean: .boolean(Bool.random(using: &random))
            }
        }

        mutating func batch() throws -> WriteBatch {
            var batch = WriteBatch()
            for _ in 0..<Int.random(in: 1...60, using: &random) {
                let experiment = ["dev", "other"].randomElement(using: &random)!
                let participant = "p\(Int.random(in: 1...4, using: &random))"
                let time = Int64.random(in: 0..<400, using: &random) * 1_000_000
                var written: [String: FieldValue] = [:]
                for field in ReferenceTests.fields where Int.random(in: 0..<4, using: &random) == 0
                {
                    written[field.name] = value(field.type)
                }
                if written.isEmpty { written["heart"] = .float(1) }
                let device = "d\(Int.random(in: 0..<2, using: &random))"
                try batch.add(
                    experiment: experiment,
                    tags: ["id_participant": participant, "id_device": device],
                    time: Timestamp(nanoseconds: time), fields: written)
                reference.write(
                    experiment: experiment, participant: participant, time: time, fields: written)
                let key = ReferenceDatabase.RowKey(
                    experiment: experiment, participant: participant, time: time)
                attributes[key] = device
            }
            return batch
        }
    }

    @Test(arguments: 1...12)
    func `random batches read back as the reference has them`(seed: UInt64) throws {
        var work = Workload(random: SeededRandom(seed: seed))
        let directory = TemporaryDirectory()
        var options = DatabaseOptions()
        options.memtableSizeBytesMax = [1 << 20, 64 << 20].randomElement(using: &work.random)!
        options.compactsInBackground = Bool.random(using: &work.random)
        var database = try Database.open(directory.path, options: options)
        for _ in 0..<40 {
            _ = try database.write(work.batch())
            switch Int.random(in: 0..<12, using: &work.random) {
            case 0: try database.flush()
            case 1: try database.compact()
            case 2:
                try database.close()
                database = try Database.open(directory.path, options: options)
            case 3: try compare(database, work, seed)
            default: break
            }
        }
        try compare(database, work, seed)
        let reader = try Database.open(directory.path, access: .readOnly)
        try compare(reader, work, seed)
        try database.flush()
        try compare(database, work, seed)
        try database.compact()
        try compare(database, work, seed)
        try compare(reader, work, seed)
        try database.close()
        try compare(reader, work, seed)
    }

    func compare(_ database: Database, _ work: Workload, _ seed: UInt64) throws {
        var random = work.random
        let snapshot = try database.takeSnapshot()
        for experiment in ["dev", "other"] {
            guard let view = snapshot.experiment(experiment) else {
                let isUnknown = !work.reference.rows.keys.contains { $0.experiment == experiment }
                #expect(isUnknown, "seed \(seed): no experiment \(experiment)")
                continue
            }
            let participants = Set(
                work.reference.rows.keys.filter { $0.experiment == experiment }.map(\.participant))
            let found = try view.series().map { $0.key.value(of: "id_participant") ?? "" }
            #expect(found == participants.sorted(), "seed \(seed): series of \(experiment)")
            let low = Int64.random(in: -10..<300, using: &random) * 1_000_000
            let part = TimeRange(lower: low, upper: low + 90_000_000)
            for series in try view.series() {
                for range in [TimeRange.all, part] {
                    try compareRows(view, series, range, work, seed)
                    try compareColumns(view, series, range, work, seed)
                }
            }
        }
    }

    func compareRows(
        _ view: ExperimentView, _ series: Series, _ range: TimeRange, _ work: Workload,
        _ seed: UInt64
    ) throws {
        let participant = series.key.value(of: "id_participant") ?? ""
        let expected = work.reference.series(
            view.schema.name, participant, in: range.lower..<range.upper)
        for descending in [false, true] {
            var cursor = view.rows(
                of: series, columns: view.schema.columns.map(\.id), in: range,
                descending: descending, batchRows: 7)
            var block = ColumnBatch()
            var found: [(time: Int64, fields: [String: FieldValue])] = []
            while try cursor.next(into: &block) {
                for row in 0..<block.count {
                    var fields: [String: FieldValue] = [:]
                    for (index, column) in block.columns.enumerated() {
                        let name = view.schema.columns[index].name
                        if view.schema.columns[index].kind == .attribute {
                            let key = ReferenceDatabase.RowKey(
                                experiment: view.schema.name, participant: participant,
                                time: block.times[row])
                            #expect(column.value(row) == work.attributes[key].map { .string($0) })
                        } else {
                            fields[name] = column.value(row)
                        }
                    }
                    found.append((block.times[row], fields))
                }
            }
            if descending { found.reverse() }
            #expect(found.map(\.time) == expected.map(\.time), "seed \(seed)")
            #expect(found.map(\.fields) == expected.map(\.fields), "seed \(seed)")
        }
    }

    func compareColumns(
        _ view: ExperimentView, _ series: Series, _ range: TimeRange, _ work: Workload,
        _ seed: UInt64
    ) throws {
        let participant = series.key.value(of: "id_participant") ?? ""
        let rows = work.reference.series(
            view.schema.name, participant, in: range.lower..<range.upper)
        for field in view.schema.fields {
            let expected = rows.compactMap { row in row.fields[field.name].map { (row.time, $0) } }
            var count = 0
            var lastTime = Int64.min
            try view.scan(field.id, of: series, in: range, summarize: { _, _ in true }) { piece in
                switch piece {
                case .buckets: Issue.record("buckets that nobody asked for")
                case .summary(let summary):
                    #expect(summary.firstTime > lastTime, "seed \(seed)")
                    lastTime = summary.lastTime
                    count += summary.count
                case .values(let slice):
                    #expect(slice.times[0] > lastTime, "seed \(seed)")
                    lastTime = slice.times[slice.count - 1]
                    count += slice.count
                }
                return true
            }
            #expect(count == expected.count, "seed \(seed), field \(field.name)")
            let last = try view.end(field.id, of: series, in: range, last: true)
            #expect(last?.time == expected.last?.0, "seed \(seed), field \(field.name)")
            #expect(last?.value == expected.last?.1, "seed \(seed), field \(field.name)")
        }
    }
}
