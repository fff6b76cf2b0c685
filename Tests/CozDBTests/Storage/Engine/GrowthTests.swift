// Costs that input can choose: work is counted for n, 2n and 4n of a thing, and may grow by little
// more than that; limits are asked before anything is stored.

import CozTestSupport
import Testing

@testable import CozDB

struct GrowthTests {
    private func options() -> DatabaseOptions {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        return options
    }

    /// Counts work for n, 2n and 4n, and compares.
    private func expectLinear(
        _ what: Comment, from count: Int, _ work: (Int) throws -> Int
    ) rethrows {
        let works = try [count, 2 * count, 4 * count].map(work)
        #expect(works[0] > 0, what)
        for index in 1...2 {
            #expect(Double(works[index]) < 2.2 * Double(works[index - 1]), "\(what): \(works)")
        }
    }

    private func batch(
        _ experiment: String = "dev", tags: [String: String] = [:], time: Int64 = 0,
        fields: [String: FieldValue]
    ) throws -> WriteBatch {
        var batch = WriteBatch()
        try batch.add(
            experiment: experiment, tags: tags.merging(["id_participant": "p"]) { $1 },
            time: Timestamp(nanoseconds: time), fields: fields)
        return batch
    }

    // MARK: Fields and attributes of a row

    private enum Values: CaseIterable {
        case same
        case different
        /// Each field in a row of its own.
        case scattered
    }

    /// What a segment writer does for one chunk of rows with so many columns.
    private func work(columns: Int, type: FieldType, _ values: Values) throws -> Int {
        var schema = ExperimentSchema(
            id: 1, name: "e", identity: .allTags, typeRule: .lossless, preset: "none")
        for number in 0..<columns {
            schema.add(
                name: "c\(number)", kind: type == .string ? .attribute : .field, type: type)
        }
        let directory = try FaultyFileSystem().openDirectory(
            "db", create: true, access: .ownerOnly)
        let writer = try SegmentWriter(
            directory.create("x.seg"), number: 4, databaseID: 9, schema: schema)
        try writer.beginSeries([])
        let rowCount = values == .scattered ? columns : 4
        try writer.addRows((0..<rowCount).map { Int64($0) })
        for column in schema.columns {
            let word = values == .same ? 7 : UInt64(column.id)
            let rows =
                values == .scattered
                ? [UInt32(column.id)] : (0..<4).map { UInt32($0) }
            let bits = rows.map { _ in type == .string ? ISOTime.packedTimeTag | word : word }
            try writer.addValues(column, rows: rows, bits: bits, strings: .table(.empty))
        }
        _ = try writer.finish()
        return writer.stepCount
    }

    @Test func `the work of a segment grows with its values, not with pairs of fields`() throws {
        for values in Values.allCases {
            try expectLinear("numbers, \(values)", from: 1000) {
                try work(columns: $0, type: .float, values)
            }
            try expectLinear("texts that are times, \(values)", from: 1000) {
                try work(columns: $0, type: .string, values)
            }
        }
    }

    /// What a merge of three segments does. Each series has a row with values of three columns, or
    /// one series has a row of all columns, and a merge unites it.
    private func mergeWork(columns: Int, isWide: Bool) throws -> Int {
        var schema = ExperimentSchema(
            id: 1, name: "e", identity: .allTags, typeRule: .lossless, preset: "none")
        for number in 0..<columns { schema.add(name: "c\(number)", kind: .field, type: .float) }
        let directory = try FaultyFileSystem().openDirectory(
            "db", create: true, access: .ownerOnly)
        let keys = (0..<(isWide ? 1 : columns)).map { SeriesKey(tags: [("t", "\($0)")]) }.sorted()
        func segment(_ number: UInt64, _ factor: Int) throws -> SegmentReader {
            let writer = try SegmentWriter(
                directory.create(FileName.segment(number).text), number: number, databaseID: 9,
                schema: schema)
            for (series, key) in keys.enumerated() {
                try writer.beginSeries(key.bytes)
                try writer.addRows([isWide ? 0 : Int64(number)])
                for column in isWide ? 0..<columns : series..<(series + 1) {
                    try writer.addValues(
                        schema.columns[column * (isWide ? 1 : factor) % columns], rows: [0],
                        bits: [Double(isWide ? factor : column).bitPattern],
                        strings: .table(.empty))
                }
            }
            return try SegmentReader(
                in: directory, writer.finish(), databaseID: 9, access: .copied)
        }
        var merge = try SegmentMerge(
            [segment(4, 1), segment(5, 7), segment(6, 11)], schema: schema)
        let writer = try SegmentWriter(
            directory.create("x.seg"), number: 7, databaseID: 9, schema: schema)
        try merge.write(to: writer)
        #expect(try writer.finish().valueCount == (isWide ? 1 : 3) * columns)
        return merge.stepCount + writer.stepCount
    }

    @Test func `the work of a merge grows with its values, not with columns times series`() throws {
        try expectLinear("series of three columns", from: 200) {
            try mergeWork(columns: $0, isWide: false)
        }
        try expectLinear("a row of all columns", from: 1000) {
            try mergeWork(columns: $0, isWide: true)
        }
    }

    @Test func `a wide row is flushed, merged, checked and read`() throws {
        let system = FaultyFileSystem()
        let database = try Database.open(
            "db", access: .readWrite, options: options(), on: system)
        let names = (0..<3000).map { "f\($0)" }
        for time in 0..<3 {
            let fields = names.enumerated().map { number, name in
                (name, FieldValue.float(number % 3 == 0 ? 1 : Double(number * time)))
            }
            _ = try database.write(
                batch(time: Int64(time), fields: Dictionary(uniqueKeysWithValues: fields)))
            try database.flush()
        }
        try database.compact()
        #expect(try Contents(database).cells.count == 9000)
        try database.close()
        #expect(try Database.check("db", on: system) { _ in }.damaged == 0)
        let reader = try Database.open("db", access: .readOnly, options: options(), on: system)
        let result = try reader.query(
            "SELECT f2999 FROM dev", options: QueryOptions(now: Timestamp(nanoseconds: 0)))
        #expect("\(result)".contains("5998"))
    }

    @Test func `a flush keeps each chunk within the limit of its cells`() throws {
        let database = try Database.open(
            "db", access: .readWrite, options: options(), on: FaultyFileSystem())
        // The tags of all rows are one list, the cells they become are more than one chunk takes.
        let tags = (0..<2000).map { ("t\($0)", "v\($0 % 7)") }
        var batch = WriteBatch()
        let experiment = batch.experiment("dev".utf8.span)
        let column = batch.column(experiment: experiment, name: "x".utf8.span, type: .integer)
        let tagSet = batch.tagSet(
            experiment: experiment,
            tags: [("id_participant", "p")] + tags.map { (name: $0.0, value: $0.1) })
        let limit = SegmentFormat.chunkCellCountMax
        let rowCount = limit / 2000 + 500
        for row in 0..<rowCount {
            batch.append(column: column, bits: UInt64(row))
            // Every other two of the last rows are one.
            let time = row < rowCount - 200 ? row : row & ~1
            batch.endRow(tagSet: tagSet, time: Int64(time), line: 0)
        }
        _ = try database.write(batch)
        let system = FaultyFileSystem()
        let directory = try system.openDirectory("db", create: true, access: .ownerOnly)
        let snapshot = try database.moment().1
        let view = snapshot.experiments[0]
        guard case .memtable(let memtable) = view.sources[0] else { return }
        let writer = try SegmentWriter(
            directory.create(FileName.segment(4).text), number: 4, databaseID: 9,
            schema: view.schema)
        var flush = MemtableFlush(memtable, schema: view.schema)
        try flush.write(to: writer)
        let segment = try writer.finish()
        #expect(segment.rowCount == rowCount - 100)
        // The row that reaches the limit is the last one.
        #expect((limit / 2..<limit + 2001).contains(writer.largestChunkCellCount))
        try database.close()
    }

    // MARK: Experiments

    @Test func `an experiment costs a few calls, and no manifest of its own`() throws {
        var manifests: [Int] = []
        try expectLinear("calls", from: 40) { count in
            let system = FaultyFileSystem()
            var options = options()
            options.compactsInBackground = true
            let database = try Database.open(
                "db", access: .readWrite, options: options, on: system)
            for time in 0..<2 {
                var all = WriteBatch()
                for number in 0..<count {
                    try all.add(
                        experiment: "e\(number)", tags: ["id_participant": "p"],
                        time: Timestamp(nanoseconds: Int64(time)), fields: ["x": .float(1)])
                }
                _ = try database.write(all)
                try database.flush()
            }
            try database.close()
            manifests.append(system.calls.count { $0.hasPrefix("rename") })
            return system.callCount
        }
        #expect(Set(manifests).count == 1, "manifests written: \(manifests)")
    }

    @Test(
        .enabled(if: Growth.isMeasured, "measures time; see Tools/nightly"),
        arguments: [false, true])
    func `a commit costs what it adds, not what there is`(isOfExperiments: Bool) throws {
        let growth = try Growth(from: 1000, prepare: { $0 }) { count in
            let database = try Database.open(
                "db", access: .readWrite, options: options(), on: FaultyFileSystem())
            for number in 0..<count {
                let experiment = isOfExperiments ? "e\(number)" : "dev"
                let field = isOfExperiments ? "x" : "f\(number)"
                _ = try database.write(batch(experiment, fields: [field: .float(1)]))
            }
            try database.close()
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test func `a memtable of many experiments takes what their rows take`() throws {
        let database = try Database.open(
            "db", access: .readWrite, options: options(), on: FaultyFileSystem())
        for number in 0..<100 {
            _ = try database.write(batch("e\(number)", fields: ["x": .float(1)]))
        }
        guard case .writer(let engine) = database.store else { return }
        let (size, sum) = engine.state.withLock { state in
            let tables = state.memtable.tables.values.reduce(0) { $0 + $1.sizeBytes }
            return (state.memtable.sizeBytes, tables + state.memtable.strings.sizeBytes)
        }
        #expect(size == sum)
        #expect(size < 100 * 8192)
        try database.close()
    }

    // MARK: Limits

    @Test func `a database takes no more experiments than it may have`() throws {
        var options = options()
        options.experimentCountMax = 2
        let system = FaultyFileSystem()
        let database = try Database.open("db", access: .readWrite, options: options, on: system)
        for number in 0..<3 {
            let report = try database.write(batch("e\(number)", fields: ["x": .float(1)]))
            #expect(report.refusedPoints == (number < 2 ? 0 : 1))
        }
        _ = try database.write(batch("e1", time: 1, fields: ["x": .float(2)]))
        let reasons = try Contents(database).refusals.map(\.reason)
        #expect(reasons.count == 1 && reasons[0].contains("(experimentCountMax)"))
        let calls = system.callCount
        #expect {
            try database.declare(
                experiment: "e9", fields: [SchemaPreset.Field("y", .float)])
        } throws: { error in
            (error as? DatabaseError)?.kind == .limitExceeded
        }
        #expect(system.callCount == calls)
        #expect(try database.schemas().map(\.name).sorted() == ["e0", "e1"])
        try database.close()
    }

    @Test func `tags count as columns, and a series has no key beyond what a block takes`() throws {
        var options = options()
        options.columnCountMax = 4
        let database = try Database.open(
            "db", access: .readWrite, options: options, on: FaultyFileSystem())
        _ = try database.write(batch(tags: ["a": "1", "b": "2"], fields: ["x": .float(1)]))
        let report = try database.write(
            batch(tags: ["a": "1", "c": "1", "d": "1"], time: 1, fields: ["x": .float(1)]))
        #expect(report.refusedPoints == 1)
        _ = try database.write(
            batch(tags: ["a": "2", "c": "1"], time: 2, fields: ["x": .float(1)]))
        #expect(try database.schemas()[0].columns.count == 4)
        var long = WriteBatch()
        long.settings.identity = .allTags
        let tags = (0..<5).map { ("t\($0)", String(repeating: "v", count: 60_000)) }
        try long.add(
            experiment: "all", tags: Dictionary(uniqueKeysWithValues: tags),
            time: Timestamp(nanoseconds: 0), fields: ["x": .float(1)])
        #expect(try database.write(long).refusedPoints == 1)
        #expect(try database.schemas().count == 1)
        try database.close()
    }

    @Test func `names that no manifest could hold are refused before they are stored`() throws {
        let system = FaultyFileSystem()
        let database = try Database.open("db", access: .readWrite, options: options(), on: system)
        let filler = String(repeating: "n", count: 65_000)
        var refused: DatabaseError?
        for round in 0..<10 where refused == nil {
            let fields = (0..<40).map { ("\(round)-\($0)" + filler, FieldValue.float(1)) }
            do {
                _ = try database.write(
                    batch(time: Int64(round), fields: Dictionary(uniqueKeysWithValues: fields)))
            } catch let error as DatabaseError {
                refused = error
            }
        }
        #expect(refused?.kind == .limitExceeded)
        _ = try database.write(batch(time: 100, fields: ["x": .float(1)]))
        try database.close()
        let again = try Database.open("db", access: .readOnly, options: options(), on: system)
        #expect(try again.schemas()[0].field("x") != nil)
    }

    @Test func `refused values of fields with long names, once the journal is full`() throws {
        var options = options()
        options.rejectsSizeBytesMax = 1024
        let growth = try Growth(from: 1000) { size in
            let directory = TemporaryDirectory()
            let database = try Database.open(directory.path, options: options)
            let names = ["a", "b"].map { String(repeating: $0, count: 15 * size) }
            _ = try database.write(batch("m", fields: [names[0]: .integer(1)]))
            var batch = WriteBatch()
            for row in 0..<size {
                try batch.add(
                    experiment: "m", tags: ["id_participant": "p", names[1]: "x"],
                    time: Timestamp(nanoseconds: Int64(row)),
                    fields: [names[0]: .string("x"), "v": .integer(1)])
            }
            return (directory, database, batch)
        } _: { _, database, batch in
            let report = try database.write(batch)
            #expect(report.refusedValues == batch.rowCount)
        }
        #expect(growth.isLinear, "\(growth)")
    }
}
