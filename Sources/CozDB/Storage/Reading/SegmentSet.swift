// The open segments of a manifest. Each is opened once and shared by the snapshots of later
// manifests.

/// Open segments by file number.
struct SegmentSet: Sendable {
    private var readers: [UInt64: SegmentReader] = [:]
    /// Errors of the segments of the last manifest that could not be opened.
    private(set) var failures: [UInt64: DatabaseError] = [:]

    subscript(number: UInt64) -> SegmentReader? { readers[number] }

    mutating func insert(_ reader: SegmentReader) {
        readers[reader.info.number] = reader
    }

    /// Opens segments that a manifest adds and closes those it does not name. A segment that cannot
    /// be opened is added to `failures`, and queries of its experiment throw that error.
    mutating func follow(_ manifest: Manifest, in directory: any Directory) {
        var kept: [UInt64: SegmentReader] = [:]
        failures = [:]
        for info in manifest.segments {
            if let known = readers[info.number] {
                kept[info.number] = known
                continue
            }
            do throws(DatabaseError) {
                let reader = try SegmentReader(
                    in: directory, info, databaseID: manifest.databaseID)
                try reader.check(manifest)
                kept[info.number] = reader
            } catch {
                failures[info.number] = error
            }
        }
        readers = kept
    }

    /// Closes segments that a manifest does not name. Snapshots keep theirs open.
    mutating func keep(_ manifest: Manifest) {
        let named = Set(manifest.segments.map(\.number))
        readers = readers.filter { named.contains($0.key) }
    }

    /// Creates a snapshot of these segments and of memtables, oldest first.
    func snapshot(
        _ manifest: Manifest, schemas: SchemaSet, memtables: [Memtable], sequence: UInt64
    ) -> Snapshot {
        let segments = manifest.segmentsByExperiment
        let experiments = schemas.all.map { schema in
            var sources: [RowSource] = []
            var damage: DatabaseError?
            for info in segments[schema.id] ?? [] {
                if let reader = readers[info.number] { sources.append(.segment(reader)) }
                if damage == nil, let failure = failures[info.number]?.asDamageIfMissing {
                    damage = failure.kind == .io ? failure : failure.losing(manifest.lost(info))
                }
            }
            for memtable in memtables {
                if let table = memtable.tables[schema.id], table.rows.count > 0 {
                    sources.append(.memtable(MemtableView(table, strings: memtable.strings)))
                }
            }
            return ExperimentView(schema: schema, sources: sources, damage: damage)
        }
        return Snapshot(experiments: experiments, sequence: sequence)
    }
}
