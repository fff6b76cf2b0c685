// Refuses statements that could reveal masked columns: a condition discloses values guess by guess.

/// The checks of statements under `QueryOptions.redactsSecrets`.
enum RedactionChecks {
    /// - Throws: `usage` if a statement has a condition on a credential column or changes data.
    static func check(_ statement: Statement) throws(DatabaseError) {
        switch statement {
        case .select(let select), .explain(let select, _): try check(select)
        case .show(let show):
            try check(show.condition)
            for source in show.sources { try check(source) }
            if let measurement = show.measurement { try check(measurement) }
        case .delete, .dropSeries, .dropMeasurement, .alter:
            throw DatabaseError(
                .usage,
                "found a statement that changes data, expected one that reads, because credentials "
                    + "are masked; run it with Database.execute, without masks",
                remedy: .change([.redaction]))
        case .administration: break
        }
    }

    private static func check(_ select: SelectStatement) throws(DatabaseError) {
        try check(select.condition)
        for source in select.sources { try check(source) }
    }

    private static func check(_ source: Source) throws(DatabaseError) {
        if case .subquery(let select) = source { try check(select) }
    }

    private static func check(_ condition: Expression?) throws(DatabaseError) {
        var found: Reference?
        condition?.walk { part in
            switch part {
            case .reference(let reference), .distinct(let reference):
                if CredentialColumns.contains(reference.name) { found = found ?? reference }
            case .call(let call):
                if let anchor = call.window?.anchor, CredentialColumns.contains(anchor.name) {
                    found = found ?? anchor
                }
            default: break
            }
        }
        guard let found else { return }
        throw DatabaseError(
            .usage,
            "WHERE uses \"\(found.name)\", which is masked: the result would reveal its values; "
                + "remove the condition, or turn masking off", offset: found.offset,
            remedy: .change([.redaction]))
    }
}
