// The open segments of a manifest: opened once, shared by the snapshots of all later manifests.

/// Open segments by file number.
struct SegmentSet: Sendable {
    private var readers: [UInt64: SegmentReader] = [:]

    subscript(number: UInt64) -> SegmentReader? { readers[number] }

    mutating func insert(_ reader: SegmentReader) {
        readers[reader.info.number] = reader
    }

    /// Opens what a manifest names and is not open yet; closes what it does not name.
    mutating func follow(
        _ manifest: Manifest, in directory: any Directory
    ) throws(DatabaseError) {
        var kept: [UInt64: SegmentReader] = [:]
        for info in manifest.segments {
            if let known = readers[info.number] {
                kept[info.number] = known
            } else {
                kept[info.number] = try SegmentReader(
                    in: directory, info, databaseID: manifest.databaseID)
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
        let experiments = schemas.all.map { schema in
            var sources: [RowSource] = []
            for info in manifest.segments where info.experiment == schema.id {
                if let reader = readers[info.number] { sources.append(.segment(reader)) }
            }
            for memtable in memtables {
                if let table = memtable.tables[schema.id], table.rows.count > 0 {
                    sources.append(.memtable(MemtableView(table, strings: memtable.strings)))
                }
            }
            return ExperimentView(schema: schema, sources: sources)
        }
        return Snapshot(experiments: experiments, sequence: sequence)
    }
}
