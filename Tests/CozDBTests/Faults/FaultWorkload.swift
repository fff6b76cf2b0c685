// The workload that the fault tests run: a short life of a database, with everything in it that
// touches files, and what must be found at its end wherever it broke off.

import CozTestSupport
import Testing

@testable import CozDB

/// All that a database holds, in a form that can be compared.
struct Contents: Equatable {
    struct Cell: Hashable {
        var experiment: String
        var series: [String]
        var time: Int64
        var column: String
    }

    var cells: [Cell: FieldValue] = [:]
    var refusals: Set<Refusal> = []

    init() {}

    /// Reads everything by rows.
    init(_ database: Database) throws {
        let snapshot = try database.takeSnapshot()
        for view in snapshot.experiments {
            for series in try view.series() { try add(view, series) }
        }
        refusals = try Contents.refusals(database)
    }

    private mutating func add(_ view: ExperimentView, _ series: Series) throws {
        let key = series.key.tags.flatMap { [$0.name, $0.value] }
        var cursor = view.rows(of: series, columns: view.schema.columns.map(\.id), in: .all)
        var block = RowBlock()
        while try cursor.next(into: &block) {
            for (index, column) in block.columns.enumerated() {
                for row in 0..<block.count {
                    guard let value = column.value(row) else { continue }
                    let cell = Cell(
                        experiment: view.schema.name, series: key, time: block.times[row],
                        column: view.schema.columns[index].name)
                    cells[cell] = value
                }
            }
        }
    }

    /// Refusals in files and in memory.
    private static func refusals(_ database: Database) throws -> Set<Refusal> {
        var entries: [JournalEntry] = []
        switch database.store {
        case .writer(let engine):
            let (files, recent) = engine.state.withLock {
                ($0.manifest.rejects, ($0.frozen?.journal ?? []) + $0.memtable.journal)
            }
            for info in files {
                entries += try RejectsFile.read(
                    info, under: engine.directory, databaseID: engine.databaseID)
            }
            entries += recent
        case .reader(let reader):
            let (manifest, recent) = try reader.read { manifest, _, replay throws(DatabaseError) in
                (manifest, replay.memtable.journal)
            }
            for info in manifest.rejects {
                entries += try RejectsFile.read(
                    info, under: reader.directory, databaseID: manifest.databaseID)
            }
            entries += recent
        }
        var found: Set<Refusal> = []
        for case .refusal(let refusal) in entries { found.insert(refusal) }
        return found
    }
}

/// A short life of a database: writes, deletions, flushes, merges, closing and opening again.
struct FaultWorkload {
    static let path = "db"

    /// What changes the contents: each of them whole or not at all.
    enum Change {
        case batch(Int)
        case statement(String)
    }

    /// In their order; the last one is only made by who checks what a run left.
    static let changes: [Change] = [
        .batch(1), .batch(2), .batch(3), .batch(4), .batch(5),
        .statement("DELETE FROM dev WHERE id_participant = 'p1' AND time >= 20 AND time < 31"),
        .batch(6),
        .statement("DELETE heart FROM dev WHERE number >= 5"),
        .batch(7),
        .statement("DROP SERIES WHERE id_participant = 'p1'"),
        .batch(8),
        .statement("DROP MEASUREMENT \"öther\""),
        .batch(9),
    ]
    static let changeCount = changes.count - 1

    var options = DatabaseOptions()

    /// How far a run came before something failed.
    struct Progress {
        /// Changes that were reported.
        var acknowledged = 0
        /// Changes that were begun.
        var begun = 0
        var failure: DatabaseError?
    }

    init() {
        options.compactsInBackground = false
        options.retireSeconds = 0
    }

    enum Step {
        case change, flush, compact, reopen
    }

    static let steps: [Step] = [
        .change, .change, .flush, .change, .compact, .change, .reopen, .change, .change,
        .change, .change, .change, .compact, .change, .change, .change, .reopen,
    ]

    /// Two experiments, overwritten cells, refused values and points, new fields as it goes on.
    static func batch(_ number: Int) throws -> WriteBatch {
        var batch = WriteBatch()
        batch.source = "file \(number)"
        for (experiment, participants) in [("dev", 2), ("öther", 1)] {
            for participant in 0..<participants {
                let tags = ["id_participant": "p\(participant)", "device": "d\(number % 2)"]
                let time = Timestamp(nanoseconds: Int64((number % 5) * 10 + participant))
                try batch.add(
                    experiment: experiment, tags: tags, time: time,
                    fields: [
                        "number": .integer(Int64(number)), "heart": .float(Double(number) / 4),
                        "new \(number / 6)": .string("text \(number) \(participant)"),
                    ])
            }
        }
        if number % 3 == 1 {
            try batch.add(
                experiment: "dev", tags: ["id_participant": "p1"], time: Timestamp(nanoseconds: 7),
                fields: ["number": .string("not a number \(number)"), "heart": .float(1)])
            try batch.add(
                experiment: "dev", tags: ["device": "nobody's"], time: Timestamp(nanoseconds: 8),
                fields: ["heart": .float(Double(number))])
        }
        return batch
    }

    func open(
        _ system: FaultyFileSystem, _ access: DatabaseAccess = .readWrite
    ) throws(DatabaseError) -> Database {
        try Database.open(FaultWorkload.path, access: access, options: options, on: system)
    }

    /// Makes a change, counted from 1.
    static func make(_ number: Int, in database: Database) throws {
        switch changes[number - 1] {
        case .batch(let batch): try database.write(FaultWorkload.batch(batch))
        case .statement(let text): _ = try database.query(text)
        }
    }

    /// Runs until the end or the first failure.
    func run(on system: FaultyFileSystem) throws -> Progress {
        var progress = Progress()
        do {
            var database = try open(system)
            for step in FaultWorkload.steps {
                switch step {
                case .change:
                    progress.begun += 1
                    try FaultWorkload.make(progress.begun, in: database)
                    progress.acknowledged += 1
                case .flush: try database.flush()
                case .compact: try database.compact()
                case .reopen:
                    try database.close()
                    database = try open(system)
                }
            }
            try database.close()
        } catch let error as DatabaseError {
            progress.failure = error
        }
        return progress
    }

    /// What the database holds after each number of changes.
    static func prefixes() throws -> [Contents] {
        let system = FaultyFileSystem()
        let database = try FaultWorkload().open(system)
        var prefixes = [Contents()]
        for number in 1...changes.count {
            try make(number, in: database)
            prefixes.append(try Contents(database))
        }
        try database.close()
        return prefixes
    }

    /// Opens what a run left and checks that it is a prefix of the changes with all that were
    /// acknowledged, that the next write works, and that closing does.
    func check(
        _ system: FaultyFileSystem, _ progress: Progress, _ prefixes: [Contents], _ what: String
    ) throws {
        let context: Comment = "\(what), of \(progress)"
        do {
            var readable: Contents?
            if progress.acknowledged > 0 {
                readable = try Contents(open(system, .readOnly))
            }
            var database = try open(system)
            let found = try Contents(database)
            if let readable { #expect(readable == found, context) }
            let kept = prefixes.lastIndex(of: found)
            guard let kept, kept >= progress.acknowledged, kept <= progress.begun else {
                Issue.record("\(what): found \(kept ?? -1) changes of \(progress)")
                return
            }
            try FaultWorkload.make(kept + 1, in: database)
            try database.close()
            database = try open(system)
            #expect(try Contents(database) == prefixes[kept + 1], context)
            try database.close()
            try expectNothingUnnamed(system, context)
        } catch {
            Issue.record("\(what): \(error), of \(progress)")
        }
    }

    private func expectNothingUnnamed(_ system: FaultyFileSystem, _ context: Comment) throws {
        let manifest = try Manifest(decoding: system["db/MANIFEST"])
        var named = ["db/LOCK", "db/MANIFEST"]
        named += manifest.segments.map { "db/" + FileName.segment($0.number).text }
        named += manifest.rejects.map { "db/rejects/" + FileName.rejects($0.number).text }
        #expect(system.files == named.sorted(), context)
    }
}
