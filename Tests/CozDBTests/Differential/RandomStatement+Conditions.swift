// WHERE of random statements.

internal import CozTestSupport

@testable internal import CozDB

extension RandomStatement {
    /// - Parameter isBounded: whether time must have a lower bound.
    mutating func condition(_ source: Source, isBounded: Bool) -> String {
        var parts: [String] = []
        if isBounded || chance(15) { parts += bounds() }
        if chance(45) {
            let test = test(source, depth: number(0...2))
            if !test.isEmpty {
                parts.append(chance(30) || test.contains(" OR ") ? "(\(test))" : test)
            }
        }
        return parts.isEmpty
            ? "" : " WHERE " + parts.shuffled(using: &random).joined(separator: " AND ")
    }

    private mutating func bounds() -> [String] {
        if chance(4) { return ["(time > \(moment(number(-150...100))) OR time < \(moment(400)))"] }
        let first = number(-150...500)
        let last = first + number(1...500)
        var bounds: [String] = []
        if chance(92) { bounds.append("time \(pick([">", ">="])) \(moment(first))") }
        if chance(88) { bounds.append("time \(pick(["<", "<="])) \(moment(last))") }
        return bounds
    }

    private mutating func moment(_ number: Int) -> String {
        let time = database.origin + Int64(number) * database.step
        switch self.number(0...(database.zone == nil ? 3 : 5)) {
        case 0: return "\(time)"
        case 1: return "\(time / 1_000_000_000)s"
        case 2: return "now() - \((now - time) / 1_000_000_000)s"
        case 3: return "'\(Timestamp(nanoseconds: time).text(offsetSeconds: 0))'"
        default:
            // Without an offset: in the zone of the statement.
            return "'\(Timestamp(nanoseconds: time).text(offsetSeconds: 0).prefix(10))'"
        }
    }

    var now: Int64 { database.origin + 650 * database.step }

    private mutating func test(_ source: Source, depth: Int) -> String {
        if depth > 0, chance(60) {
            let left = test(source, depth: depth - 1)
            let right = test(source, depth: depth - 1)
            if left.isEmpty || right.isEmpty { return left + right }
            let joint = chance(50) ? " AND " : " OR "
            return chance(40) ? "(\(left)\(joint)\(right))" : left + joint + right
        }
        let hasTags = !source.tags.isEmpty
        if hasTags, chance(40) { return tagTest(pick(source.tags), source) }
        let fields = source.fields.filter { !$0.isTag }
        return fields.isEmpty ? "" : fieldTest(pick(fields), source)
    }

    private mutating func tagTest(_ tag: RandomColumn, _ source: Source) -> String {
        let name = Self.quoted(tag.name) + (chance(10) ? "::tag" : "")
        func value() -> String {
            Self.literal(chance(15) ? "" : source.tagValues.randomElement(using: &random) ?? "a")
        }
        switch number(0...6) {
        case 0, 1: return "\(name) = \(value())"
        case 2: return "\(name) != \(value())"
        case 3:
            return "\(name) \(pick(["=~", "!~"])) \(pick(["/a|b/", "/^a/", "/./", "/é$/", "/^$/"]))"
        case 4: return "\(name) \(pick(["IN", "NOT IN"])) (\(value()), \(value()))"
        case 5: return "\(name) IS \(pick(["NULL", "NOT NULL"]))"
        default: return "\(value()) \(pick(["=", "!="])) \(name)"
        }
    }

    private mutating func fieldTest(_ field: RandomColumn, _ source: Source) -> String {
        let name = Self.quoted(field.name)
        if chance(12) { return "\(name) IS \(pick(["NULL", "NOT NULL"]))" }
        switch field.type {
        case .boolean:
            return "\(name) \(pick(["=", "!="])) \(pick(["true", "false"]))"
        case .string:
            let text = Self.literal(pick(RandomDatabase.texts))
            let other = Self.literal(pick(RandomDatabase.texts))
            switch number(0...3) {
            case 0: return "\(name) = \(text)"
            case 1: return "\(name) != \(text)"
            case 2:
                return
                    "\(name) \(pick(["=~", "!~"])) \(pick(["/er$/", "/^$/", "/No|a/", "/[^a-z]/"]))"
            default: return "\(name) \(pick(["IN", "NOT IN"])) (\(text), \(other))"
            }
        case .float, .integer: return numberTest(field, name, source)
        }
    }

    private mutating func numberTest(
        _ field: RandomColumn, _ name: String, _ source: Source
    ) -> String {
        let symbol = pick(["<", "<=", ">", ">=", "=", "!="])
        // What was computed in two ways may be compared with what it never is.
        guard field.isExact else { return "\(name) \(pick(["<", ">"])) \(number(-9...30)).37" }
        let literal = pick([
            "\(number(-9...30))", "\(number(-9...9)).25", "0", "9223372036854775807",
        ])
        if chance(5) { return "\(name) \(pick(["=", "!=", "<"])) '5'" }
        if chance(15) {
            return "\(name) \(pick(["IN", "NOT IN"])) (\(literal), \(number(-9...30)))"
        }
        let others = source.fields.filter {
            ($0.type == .float || $0.type == .integer) && $0.isExact
        }
        switch number(0...5) {
        case 5: return "\(name)::\(pick(["integer", "float"])) \(symbol) \(literal)"
        case 0: return "\(name) \(symbol) \(Self.quoted(pick(others).name))"
        case 1:
            let (arithmetic, number) = (pick(["+", "-", "*", "/", "%"]), pick(["2", "3", "0"]))
            return "\(name) \(arithmetic) \(number) \(symbol) \(literal)"
        case 2: return "abs(\(name)) \(symbol) \(literal)"
        case 3: return "\(literal) \(symbol) \(name)"
        default: return "\(name) \(symbol) \(literal)"
        }
    }
}
