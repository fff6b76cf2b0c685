// Random statements that must have an answer: names exist, types fit, functions stand where they
// may. What is refused belongs to the error scripts, not here.

internal import CozTestSupport

@testable internal import CozDB

struct RandomStatement {
    /// A source with what can be asked of it.
    struct Source {
        var text: String
        var fields: [RandomColumn]
        /// Usable in SELECT and WHERE.
        var tags: [RandomColumn]
        /// Usable in GROUP BY.
        var groupTags: [RandomColumn]
        /// Texts that tags have.
        var tagValues: [String]
        var isSubquery = false
    }

    /// A statement, and what a statement around it can ask of it.
    struct Select {
        var text: String
        var columns: [RandomColumn]
        var ownTags: [RandomColumn]
    }

    let database: RandomDatabase
    var random: SeededRandom

    init(_ database: RandomDatabase, _ random: inout SeededRandom) {
        self.database = database
        self.random = SeededRandom(seed: random.next())
    }

    mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &random) < percent
    }

    mutating func pick<Element>(_ all: [Element]) -> Element {
        all[Int.random(in: 0..<all.count, using: &random)]
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    static func quoted(_ name: String) -> String {
        "\"" + name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    static func literal(_ text: String) -> String {
        "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }

    // MARK: The whole statement

    mutating func statement() -> String {
        let isDescending = chance(30)
        if chance(4) { return limitedSeries(isDescending) }
        let statement = select(depth: 0, isDescending: isDescending)
        // Statements inside have zones of their own, and here none.
        guard let zone = database.zone, !statement.text.contains("("), chance(80) else {
            return statement.text
        }
        return statement.text + " tz('\(zone)')"
    }

    /// SLIMIT and SOFFSET, of groups that all have values.
    private mutating func limitedSeries(_ isDescending: Bool) -> String {
        let experiment = pick(database.experiments)
        let source = joined([experiment], nil)
        guard let field = experiment.fields.first, source.fields.first?.name == field.name else {
            return select(depth: 0, isDescending: isDescending).text
        }
        let name = Self.quoted(field.name)
        var groups = groups(source)
        if groups.isEmpty { groups = ["*"] }
        var text = "SELECT \(pick([name, "count(\(name))", "last(\(name))"])) FROM \(source.text)"
        text += " GROUP BY " + groups.joined(separator: ", ")
        if isDescending { text += " ORDER BY time DESC" }
        text += pick(["", " LIMIT 2", " LIMIT 0", " OFFSET 1"])
        let limit = chance(80) ? " SLIMIT \(number(0...3))" : ""
        return text + limit + (chance(50) ? " SOFFSET \(number(0...3))" : "")
    }

    private mutating func select(depth: Int, isDescending: Bool) -> Select {
        let source = source(depth: depth, isDescending: isDescending)
        var groups = groups(source)
        var shape = pick([
            Shape.raw, .raw, .raw, .aggregates, .aggregates, .aggregates, .selector, .ranked,
            .distinct, .points, .buckets,
        ])
        let numbers = source.fields.filter { $0.type == .float || $0.type == .integer }
        if source.fields.isEmpty || numbers.isEmpty { shape = .raw }
        var interval = ""
        if shape == .buckets || (shape != .raw && shape != .points && chance(45)) {
            interval = self.interval()
        }
        if database.hasFarTimes {
            // Buckets to the ends of time are too many.
            interval = ""
            if shape == .buckets { shape = .points }
        }
        var list = self.list(shape, source, hasBuckets: !interval.isEmpty, isInner: depth > 0)
        if list.items.isEmpty {
            list = self.list(.raw, source, hasBuckets: false, isInner: depth > 0)
            (shape, interval) = (.raw, "")
        }
        if !interval.isEmpty { groups.insert(interval, at: number(0...groups.count)) }
        var text = "SELECT " + list.items.joined(separator: ", ") + " FROM " + source.text
        text += condition(source, isBounded: !interval.isEmpty || depth == 0 && chance(60))
        if !groups.isEmpty { text += " GROUP BY " + groups.joined(separator: ", ") }
        if !interval.isEmpty, shape == .aggregates || shape == .buckets {
            text += pick([
                "", "", " fill(null)", " fill(none)", " fill(previous)", " fill(linear)",
                " fill(0)", " fill(-1.5)",
            ])
        }
        if isDescending { text += " ORDER BY time DESC" }
        // LIMIT must not be less than what top() asks for.
        if chance(20), shape != .ranked { text += " LIMIT \(number(1...5))" }
        if chance(10) { text += " OFFSET \(number(0...3))" }
        let own = source.groupTags.filter { tag in
            groups.contains(Self.quoted(tag.name)) || groups.contains("*")
        }
        return Select(text: text, columns: list.columns, ownTags: own)
    }

    // MARK: FROM

    private mutating func source(depth: Int, isDescending: Bool) -> Source {
        if depth < 2, chance(depth == 0 ? 26 : 22) {
            let inner = select(depth: depth + 1, isDescending: isDescending)
            let values = database.experiments.flatMap { $0.tagValues.values.flatMap { $0 } }
            let source = Source(
                text: "(" + inner.text + ")",
                fields: inner.columns.filter { !$0.name.isEmpty },
                tags: inner.ownTags,
                groupTags: inner.ownTags, tagValues: values, isSubquery: true)
            if !source.fields.isEmpty { return source }
        }
        if database.experiments.count > 1, chance(12) {
            return joined(database.experiments, chance(50) ? "/./" : nil)
        }
        return joined([pick(database.experiments)], nil)
    }

    private func joined(_ experiments: [RandomExperiment], _ pattern: String?) -> Source {
        let names = experiments.map { Self.quoted($0.name) }.joined(separator: ", ")
        var source = Source(
            text: pattern ?? names, fields: [], tags: [], groupTags: [], tagValues: [])
        for experiment in experiments {
            for field in experiment.fields {
                if let known = source.fields.firstIndex(where: { $0.name == field.name }) {
                    // A float beside an integer is a float.
                    if field.type == .float { source.fields[known].type = .float }
                } else {
                    source.fields.append(field)
                }
            }
            for tag in experiment.tags where !source.tags.contains(where: { $0.name == tag.name }) {
                source.tags.append(tag)
            }
            source.tagValues += experiment.tagValues.values.flatMap { $0 }
        }
        // A field alone is nothing to group by.
        source.groupTags = source.tags.filter { tag in
            experiments.allSatisfy { experiment in
                experiment.tags.contains { $0.name == tag.name }
                    || !experiment.fields.contains { $0.name == tag.name }
            }
        }
        // A name that is a field here and a tag there is asked for nowhere.
        let both = Set(source.fields.map(\.name)).intersection(source.tags.map(\.name))
        source.fields.removeAll { both.contains($0.name) }
        source.tags.removeAll { both.contains($0.name) }
        return source
    }

    // MARK: GROUP BY

    private mutating func groups(_ source: Source) -> [String] {
        guard chance(45) else { return [] }
        if chance(10) { return ["*"] }
        if chance(5) { return ["/i/"] }
        var groups: [String] = []
        for tag in source.groupTags where chance(50) { groups.append(Self.quoted(tag.name)) }
        let kinds = source.fields.filter { $0.type == .string || $0.type == .boolean }
        if !kinds.isEmpty, !source.isSubquery, chance(25) {
            groups.append(Self.quoted(pick(kinds).name) + "::field")
        }
        return groups.shuffled(using: &random)
    }

    private mutating func interval() -> String {
        if database.zone != nil { return "time(\(pick(["1h", "6h", "12h", "1d", "3h"])))" }
        let length = pick(["10s", "7s", "1m", "33s", "1h", "250ms", "2m"])
        let start = chance(75) ? "" : pick([", 3s", ", -3s", ", 500ms", ", 90s"])
        // Fine buckets only where the range is short.
        return "time(\(length == "250ms" ? "5s" : length)\(start))"
    }
}
