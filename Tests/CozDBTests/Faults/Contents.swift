// Everything that a database holds, read by rows, to be compared with what was written.

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
        var block = ColumnBatch()
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
                (
                    $0.manifest.rejects,
                    ($0.frozen?.journal.entries ?? []) + $0.memtable.journal.entries
                )
            }
            for info in files {
                entries += try RejectsFile.read(
                    info, under: engine.directory, databaseID: engine.databaseID)
            }
            entries += recent
        case .reader(let reader):
            let (manifest, recent) = try reader.read { manifest, _, replay throws(DatabaseError) in
                (manifest, replay.memtable.journal.entries)
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
