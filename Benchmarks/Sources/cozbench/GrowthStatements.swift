// The axes of `growth` that measure a statement on an imported file.

internal import CozDB

extension GrowthAxis {
    static let statements: [GrowthAxis] = [
        .wide("count of all", "SELECT count(*) FROM m"),
        .wide("all of a row", "SELECT * FROM m"),
        .wide("field keys", "SHOW FIELD KEYS"),
        .sparse("sparse count", "SELECT count(*) FROM m"),
        .sparse("sparse field", "SELECT f0 FROM m"),
        .scattered(
            "scattered groups",
            "SELECT count(*) FROM (SELECT max(*) FROM m GROUP BY id_participant)"),
        .scattered("scattered count", "SELECT count(*) FROM m"),
        .scattered("scattered field", "SELECT f0 FROM m"),
        .attributes("sparse attributes", "SELECT f FROM m GROUP BY * LIMIT 1 SLIMIT 3"),
        .series("tag OR tag") { count in
            // The nesting depth of a statement is limited, so only the data grows beyond that.
            "SELECT f FROM m WHERE " + list(min(count, 490), " OR ") { "id_participant = 'p\($0)'" }
        },
        .series("tag IN") { count in
            "SELECT count(f) FROM m WHERE id_participant IN ("
                + list(count, ",") { "'p\($0)'" } + ")"
        },
        .rows("text or number IN") { count in
            "SELECT count(f) FROM m WHERE s IN (" + list(count, ",") { "'t\($0)'" } + ") OR f IN ("
                + list(count, ",") { "\($0).5" } + ")"
        },
        .rows("mode") { _ in "SELECT mode(s), mode(f) FROM m" },
        .rows("regex") { _ in "SELECT count(f) FROM m WHERE s =~ /(t|[0-9]*5)*9$/" },
        .rows("top") { "SELECT top(f, \(max(1, $0 / 2))) FROM m" },
        .rows("subqueries") { _ in
            "SELECT max(f) FROM (SELECT f FROM (SELECT f FROM (SELECT f, s FROM m) WHERE f > 1))"
        },
        .rows("mean OVER") { "SELECT mean(f) OVER (\($0)s AROUND s) FROM m" },
        .rows("stddev OVER") { "SELECT stddev(f) OVER (\($0)s BEFORE s) FROM m" },
        .rows("mode OVER") { "SELECT mode(f) OVER (\($0)s BEFORE s) FROM m" },
    ]

    private static func list(_ count: Int, _ separator: String, _ item: (Int) -> String) -> String {
        (0..<count).map(item).joined(separator: separator)
    }

    /// An axis with one row that has `count` fields.
    private static func wide(_ name: String, _ statement: String) -> GrowthAxis {
        GrowthAxis(name: name, counts: [7500, 15_000, 30_000], statement: { _ in statement }) {
            count, file throws(DatabaseError) in
            try file.append("m,id_participant=p ")
            for number in 0..<count {
                try file.append("\(number > 0 ? "," : "")f\(number)=\(number).5")
            }
            try file.append(" 1\n")
        }
    }

    /// An axis with `count` rows that each have another field.
    private static func sparse(_ name: String, _ statement: String) -> GrowthAxis {
        GrowthAxis(name: name, counts: [7500, 15_000, 30_000], statement: { _ in statement }) {
            count, file throws(DatabaseError) in
            for number in 0..<count {
                try file.append("m,id_participant=p f\(number)=\(number).5 \(number)\n")
            }
        }
    }

    /// An axis with `count` rows that each have another attribute.
    private static func attributes(_ name: String, _ statement: String) -> GrowthAxis {
        GrowthAxis(name: name, counts: [7500, 15_000, 30_000], statement: { _ in statement }) {
            count, file throws(DatabaseError) in
            for number in 0..<count {
                try file.append("m,id_participant=p,a\(number)=v f=\(number).5 \(number)\n")
            }
        }
    }

    /// An axis with `count` series that each have another field.
    private static func scattered(_ name: String, _ statement: String) -> GrowthAxis {
        GrowthAxis(name: name, counts: [7500, 15_000, 30_000], statement: { _ in statement }) {
            count, file throws(DatabaseError) in
            for number in 0..<count {
                try file.append("m,id_participant=p\(number) f\(number)=\(number).5 \(number)\n")
            }
        }
    }

    /// An axis with `count` series of one row.
    private static func series(
        _ name: String, _ statement: @escaping @Sendable (Int) -> String
    ) -> GrowthAxis {
        GrowthAxis(name: name, counts: [15_000, 30_000, 60_000], statement: statement) {
            count, file throws(DatabaseError) in
            for number in 0..<count {
                try file.append("m,id_participant=p\(number) f=\(number).5 \(number)\n")
            }
        }
    }

    /// An axis with `count` rows of a number and a text, one second apart.
    private static func rows(
        _ name: String, _ statement: @escaping @Sendable (Int) -> String
    ) -> GrowthAxis {
        GrowthAxis(name: name, counts: [15_000, 30_000, 60_000], statement: statement) {
            count, file throws(DatabaseError) in
            for number in 0..<count {
                try file.append(
                    "m,id_participant=p f=\(number * 7919 % count).5,s=\"t\(number)\" "
                        + "\(number)000000000\n")
            }
        }
    }
}
