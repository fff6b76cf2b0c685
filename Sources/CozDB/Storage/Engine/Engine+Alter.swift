// Changes of a column's type. They go directly into the manifest, without a commit record.

extension Engine {
    /// Widens a field: integer to float, or any type to string. Stored blocks are cast when they
    /// are read, and the next merge rewrites them.
    ///
    /// - Throws: `notFound` for an unknown experiment or field; `usage` for a change that could
    ///   lose values, such as an integer beyond 2^53 as a float. Nothing is changed then.
    func alter(
        experiment name: String, field: String, type: FieldType
    ) throws(DatabaseError) {
        try exclusively { () throws(DatabaseError) in try retype(name, field, type) }
    }

    private func retype(
        _ name: String, _ field: String, _ type: FieldType
    ) throws(DatabaseError) {
        let snapshot = try snapshot()
        guard let view = snapshot.experiment(name) else {
            throw DatabaseError(.notFound, "no experiment \"\(name)\"")
        }
        guard let column = view.schema.field(field) else {
            throw DatabaseError(.notFound, "experiment \"\(name)\" has no field \"\(field)\"")
        }
        if column.type == type { return }
        switch (column.type, type) {
        case (_, .string): break
        case (.integer, .float): try checkFitsFloat(view, column)
        default:
            throw DatabaseError(
                .usage,
                "field \"\(field)\" is \(column.type.name) and cannot become \(type.name): integer "
                    + "widens to float, and every type to string")
        }
        let id = view.schema.id
        state.withLock { state in
            state.schemas.update(id) { $0.retype(column.id, to: type) }
            state.stagedSchemas.update(id) { $0.retype(column.id, to: type) }
        }
        try replaceManifest { _ in }
    }

    private func checkFitsFloat(
        _ view: ExperimentView, _ column: Column
    ) throws(DatabaseError) {
        let limit: UInt64 = 1 << 53
        func fits(_ bits: UInt64) -> Bool { Int64(bitPattern: bits).magnitude <= limit }
        try view.forEachSeries { series throws(DatabaseError) in
            var tooLarge: Int64?
            try view.scan(column.id, of: series, in: .all, summarize: { _, _ in true }) { piece in
                switch piece {
                case .buckets: break
                case .summary(let summary):
                    if !fits(summary.min) { tooLarge = Int64(bitPattern: summary.min) }
                    if !fits(summary.max) { tooLarge = Int64(bitPattern: summary.max) }
                case .values(let slice):
                    if let bits = slice.bits.first(where: { !fits($0) }) {
                        tooLarge = Int64(bitPattern: bits)
                    }
                }
                return tooLarge == nil
            }
            if let tooLarge {
                throw DatabaseError(
                    .usage,
                    "field \"\(column.name)\" has the value \(tooLarge), which a float cannot "
                        + "represent exactly (limit 2^53); change the type to string instead")
            }
        }
    }
}
