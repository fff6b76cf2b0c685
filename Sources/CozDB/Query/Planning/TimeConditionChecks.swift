// Checks for likely mistakes about time that InfluxQL accepts; skipped under compatibility.

enum TimeConditionChecks {
    /// Refuses a date without quotes, which is a subtraction of numbers: `time > 2025-10-15`
    /// selects everything since nanosecond 2000 of 1970.
    static func checkDates(_ condition: Expression?) throws(DatabaseError) {
        var found: (text: String, offset: Int)?
        condition?.walk { part in
            guard case .binary(_, .reference(let name), let value) = part, name.isTime,
                case .binary(.subtract, .binary(.subtract, .integer, .integer), .integer) = value
            else { return }
            found = (value.text, name.offset)
        }
        guard let found else { return }
        throw DatabaseError(
            .usage,
            "found a comparison of time with the number \(found.text); write a date in single "
                + "quotes, such as '2025-10-15'", offset: found.offset)
    }

    /// Refuses time bounds under OR in a deletion, because they apply to the whole WHERE clause.
    static func checkAlternatives(_ condition: Expression?) throws(DatabaseError) {
        var offset: Int?
        condition?.walk { part in
            guard case .binary(.or, let left, let right) = part else { return }
            for side in [left, right] {
                side.walk { inner in
                    if case .reference(let name) = inner, name.isTime { offset = name.offset }
                }
            }
        }
        guard let offset else { return }
        throw DatabaseError(
            .usage,
            "found a time bound under OR, which would apply to all of WHERE and delete other rows "
                + "than intended; use a separate DELETE for each part", offset: offset)
    }
}
