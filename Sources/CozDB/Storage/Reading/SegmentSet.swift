// The open segments of a manifest: opened once, shared by the snapshots of all later manifests.

/// Open segments by file number.
struct SegmentSet: Sendable {
    private var readers: [UInt64: SegmentReader] = [:]
    /// Why those could not be opened that the last manifest names and that are missing here.
    private(set) var failures: [UInt64: DatabaseError] = [:]

    subscript(number: UInt64) -> SegmentReader? { readers[number] }

    mutating func insert(_ reader: SegmentReader) {
        readers[reader.info.number] = reader
    }

    /// Opens what a manifest names and is not open yet; closes what it does not name. One that
    /// cannot be opened is among `failures`, and questions of its experiment fail with that.
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

    /// Closes what a manifest does not name; snapshots keep theirs open.
    mutating func keep(_ manifest: Manifest) {
        let named = Set(manifest.segments.map(\.number))
        readers = readers.filter { named.contains($0.key) }
    }

    /// A snapshot of these segments and of memtables, oldest first.
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
