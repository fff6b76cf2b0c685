// The field lists of random statements.

internal import CozTestSupport

@testable internal import CozDB

extension RandomStatement {
    struct List {
        var items: [String] = []
        var columns: [RandomColumn] = []

        mutating func add(_ text: String, _ column: RandomColumn, alias: String?) {
            var column = column
            if column.isTag { column.showsTag = true }
            if let alias { column.name = alias }
            items.append(alias.map { text + " AS " + RandomStatement.quoted($0) } ?? text)
            // Of two columns with one name a statement around this one sees the first.
            if !columns.contains(where: { $0.name == column.name }) { columns.append(column) }
        }
    }

    typealias Expression = (text: String, column: RandomColumn)

    mutating func alias(_ index: Int, _ isInner: Bool) -> String? {
        chance(isInner ? 70 : 20) ? "c\(index)" : nil
    }

    // MARK: Raw rows

    mutating func rawList(_ source: Source, isInner: Bool) -> List {
        var list = List()
        if chance(12) {
            // What shows a tag is no field to wildcards.
            let fields = source.fields.filter { !$0.showsTag }
            let isAll = fields.isEmpty || !chance(25)
            list.items = [isAll ? pick(["*", "*", "/./"]) : "*::field"]
            list.columns = isAll ? source.fields : fields
            return list
        }
        for index in 0..<number(1...3) {
            let expression = chance(45) ? expression(source.fields) : nil
            if let expression {
                list.add(expression.text, expression.column, alias: alias(index, isInner))
            } else {
                let column = pick(source.fields)
                list.add(reference(column), column, alias: alias(index, isInner))
            }
        }
        if !source.tags.isEmpty, chance(25) {
            let tag = pick(source.tags)
            let text = Self.quoted(tag.name) + (chance(30) ? "::tag" : "")
            let column = RandomColumn(name: tag.name, type: .string, showsTag: true)
            list.add(text, column, alias: nil)
        }
        return list
    }

    private mutating func reference(_ column: RandomColumn) -> String {
        Self.quoted(column.name) + (chance(8) ? "::field" : "")
    }

    /// Numbers computed from numbers, or the first of several values.
    mutating func expression(_ columns: [RandomColumn]) -> Expression? {
        let numbers = columns.filter { $0.type == .float || $0.type == .integer }
        guard !numbers.isEmpty else { return nil }
        if chance(12) {
            let column = pick(columns)
            let alike = columns.filter { $0.type == column.type && $0.name != column.name }
            if let other = alike.randomElement(using: &random) {
                var result = column
                result.name = "coalesce"
                result.showsTag = column.showsTag || other.showsTag
                result.isExact = column.isExact && other.isExact
                result.sumsExactly = column.sumsExactly && other.sumsExactly
                result.isLarge = column.isLarge || other.isLarge
                return ("coalesce(\(Self.quoted(column.name)), \(Self.quoted(other.name)))", result)
            }
        }
        let leaves = numbers.map { (text: Self.quoted($0.name), column: $0) }
        return computed(leaves, depth: number(1...3))
    }

    /// Operators and functions of one row over these.
    mutating func computed(_ leaves: [Expression], depth: Int) -> Expression {
        let leaf = pick(leaves)
        guard depth > 0 else {
            let column = leaf.column
            if chance(8), !column.isLarge, leaf.text.hasPrefix("\"") {
                let type: FieldType = chance(50) ? .float : .integer
                var cast = column
                if type == .integer, !column.isExact { return leaf }
                cast.type = type
                return ("\(leaf.text)::\(type.name)", cast)
            }
            return leaf
        }
        let inner = computed(leaves, depth: depth - 1)
        var column = inner.column
        switch number(0...9) {
        case 0...2:
            let other = computed(leaves, depth: depth - 1)
            let symbol = arithmetic(inner.column.isExact && other.column.isExact)
            column = combined(inner.column, other.column, symbol)
            return ("(\(inner.text) \(symbol) \(other.text))", column)
        case 3, 4:
            let symbol = arithmetic(inner.column.isExact)
            let literal = pick(["2", "0", "3", "0.5", "-1", "4.0"])
            let isFloat = literal.contains(".")
            let other = RandomColumn(name: "", type: isFloat ? .float : .integer)
            column = combined(inner.column, other, symbol)
            return chance(70)
                ? ("\(inner.text) \(symbol) \(literal)", column)
                : ("\(literal) \(symbol) (\(inner.text))", column)
        case 5 where column.type == .integer:
            return ("(\(inner.text) \(pick(["&", "|", "^"])) \(number(1...7)))", column)
        case 6:
            column.name = "abs"
            return ("abs(\(inner.text))", column)
        case 7 where column.isExact:
            let name = pick(["floor", "ceil", "round"])
            column.name = name
            return ("\(name)(\(inner.text))", column)
        case 8:
            // Of integers there is no arc sine, as in InfluxDB.
            let ofFloats = column.type == .float ? ["asin", "acos"] : []
            let name = pick(
                ["sqrt", "sin", "atan", "ln", "exp", "log10", "log2", "cos"] + ofFloats)
            (column.name, column.type, column.sumsExactly) = (name, .float, false)
            return ("\(name)(\(inner.text))", column)
        case 9 where !column.isLarge && depth == 1:
            (column.name, column.sumsExactly) = ("pow", false)
            column.type = .float
            return ("pow(\(inner.text), 2)", column)
        default: return ("(\(inner.text))", column)
        }
    }

    /// A remainder makes much of a difference in the last bit: of exact values alone.
    private mutating func arithmetic(_ isExact: Bool) -> String {
        pick(["+", "-", "*", "/"] + (isExact ? ["%"] : []))
    }

    private func combined(
        _ left: RandomColumn, _ right: RandomColumn, _ symbol: String
    ) -> RandomColumn {
        let isFloat = left.type == .float || right.type == .float || symbol == "/"
        // Quotients and large products leave the numbers that add up in any order.
        let keepsSums = symbol == "+" || symbol == "-"
        return RandomColumn(
            name: "", type: isFloat ? .float : .integer, isExact: left.isExact && right.isExact,
            sumsExactly: !isFloat || left.sumsExactly && right.sumsExactly && keepsSums,
            isLarge: left.isLarge || right.isLarge)
    }

    // MARK: Functions of many rows

    /// A call of which the value is a number, or not, for a column.
    mutating func call(_ column: RandomColumn, hasBuckets: Bool) -> Expression {
        var names = ["count", "first", "last"]
        let isNumber = column.type == .float || column.type == .integer
        // Of two values that differ in the last bit one would be chosen by chance.
        if column.isExact {
            names += ["mode", "count_distinct", "count(distinct"]
            if column.type != .string { names += ["min", "max"] }
            if isNumber { names += ["min", "max", "percentile"] }
        }
        if isNumber {
            names += ["spread", "count", "median"]
            // Of large integers these hang on the order in which they are computed.
            if !column.isLarge { names += ["stddev", "mean", "sum", "integral", "median"] }
        }
        let name = pick(names)
        let field = Self.quoted(column.name)
        var result = column
        result.name = name
        switch name {
        case "count", "count_distinct": result = RandomColumn(name: name, type: .integer)
        case "count(distinct":
            return ("count(distinct \(field))", RandomColumn(name: "count", type: .integer))
        case "sum":
            result.isExact = column.isExact && column.sumsExactly
            result.sumsExactly = result.isExact
        case "mean", "median", "stddev", "integral":
            let isSum = name == "mean" && column.sumsExactly
            result.isExact = column.isExact && (isSum || name == "median")
            (result.type, result.sumsExactly) = (.float, false)
        default: break
        }
        switch name {
        case "percentile":
            return ("percentile(\(field), \(pick(["50", "10", "99.9", "0", "100", "33"])))", result)
        case "integral":
            return (chance(50) ? "integral(\(field))" : "integral(\(field), 1m)", result)
        default: return ("\(name)(\(field))", result)
        }
    }

    mutating func aggregateList(_ source: Source, hasBuckets: Bool, isInner: Bool) -> List {
        var list = List()
        if chance(7), !isInner {
            list.items = [pick(["count(*)", "first(*)", "mean(*)", "max(/./)", "sum(*)"])]
            let isOfNumbers = list.items[0].hasPrefix("m") || list.items[0].hasPrefix("s")
            let fits = source.fields.contains { $0.type == .float || $0.type == .integer }
            if !source.fields.contains(where: \.isLarge), fits || !isOfNumbers { return list }
            list = List()
        }
        for index in 0..<number(1...3) {
            if chance(25) {
                let numbers = source.fields.filter { $0.type == .float || $0.type == .integer }
                let leaves = (0..<2).map { _ in call(pick(numbers), hasBuckets: hasBuckets) }
                    .filter { $0.column.type == .float || $0.column.type == .integer }
                if !leaves.isEmpty {
                    var expression = computed(leaves, depth: number(1...2))
                    expression.column.sumsExactly = false
                    list.add(expression.text, expression.column, alias: "c\(index)")
                    continue
                }
            }
            let expression = call(pick(source.fields), hasBuckets: hasBuckets)
            list.add(expression.text, expression.column, alias: alias(index, isInner))
        }
        return list
    }

    mutating func selectorList(_ source: Source, isInner: Bool) -> List {
        var list = List()
        let fields = source.fields.filter(\.isExact)
        let numbers = fields.filter { $0.type == .float || $0.type == .integer }
        guard !numbers.isEmpty else { return list }
        let name = pick(["first", "last", "min", "max", "percentile"])
        let column = pick(name == "first" || name == "last" ? fields : numbers)
        var result = column
        result.name = name
        let tail = name == "percentile" ? ", \(number(1...100))" : ""
        list.add("\(name)(\(Self.quoted(column.name))\(tail))", result, alias: alias(0, isInner))
        for index in 1...number(1...2) {
            let other = pick(source.fields + source.tags)
            list.add(Self.quoted(other.name), other, alias: alias(index, isInner))
        }
        return list
    }

    mutating func rankedList(_ source: Source, isInner: Bool) -> List {
        var list = List()
        let numbers = source.fields.filter {
            ($0.type == .float || $0.type == .integer) && $0.isExact
        }
        guard !numbers.isEmpty else { return list }
        let name = pick(["top", "bottom"])
        var column = pick(numbers)
        let field = Self.quoted(column.name)
        column.name = name
        let tags = source.tags.shuffled(using: &random).prefix(number(0...2))
        let names = tags.map { ", " + Self.quoted($0.name) }.joined()
        list.add(
            "\(name)(\(field)\(names), \(number(1...4)))", column, alias: alias(0, isInner))
        if chance(30) {
            let other = pick(source.fields + source.tags)
            list.add(Self.quoted(other.name), other, alias: "o")
        }
        return list
    }

    // MARK: Neighbors

    mutating func transformation(_ argument: Expression) -> Expression? {
        var column = argument.column
        guard column.type == .float || column.type == .integer, !column.isLarge, column.isExact
        else { return nil }
        let name = pick([
            "difference", "non_negative_difference", "derivative", "non_negative_derivative",
            "elapsed", "moving_average", "cumulative_sum",
        ])
        column.name = name
        switch name {
        case "derivative", "non_negative_derivative":
            (column.type, column.sumsExactly) = (.float, false)
            let unit = pick(["", ", 1s", ", 10s", ", 1m"])
            return ("\(name)(\(argument.text)\(unit))", column)
        case "elapsed":
            let unit = pick(["", ", 1s", ", 250ms"])
            return ("elapsed(\(argument.text)\(unit))", RandomColumn(name: name, type: .integer))
        case "moving_average":
            column.isExact = column.isExact && column.sumsExactly
            (column.type, column.sumsExactly) = (.float, false)
            return ("moving_average(\(argument.text), \(number(2...4)))", column)
        default: return ("\(name)(\(argument.text))", column)
        }
    }

    mutating func pointList(_ source: Source, isInner: Bool) -> List {
        var list = List()
        let numbers = source.fields.filter { $0.type == .float || $0.type == .integer }
        if chance(5), !isInner, !source.fields.contains(where: \.isLarge),
            source.fields.allSatisfy(\.isExact)
        {
            list.items = [pick(["difference(*)", "cumulative_sum(/./)", "derivative(*, 1m)"])]
            return list
        }
        for index in 0..<number(1...2) {
            let column = pick(numbers)
            guard let expression = transformation((Self.quoted(column.name), column)) else {
                continue
            }
            list.add(expression.text, expression.column, alias: alias(index, isInner))
        }
        return list
    }

    mutating func bucketList(_ source: Source, isInner: Bool) -> List {
        var list = List()
        if chance(6), !isInner, !source.fields.contains(where: \.isLarge),
            source.fields.allSatisfy({ $0.isExact && $0.sumsExactly })
        {
            list.items = [
                pick(["difference(mean(*))", "cumulative_sum(count(*))", "elapsed(max(*))"])
            ]
            return list
        }
        for index in 0..<number(1...2) {
            let column = pick(source.fields)
            var inner = call(column, hasBuckets: true)
            if inner.text.hasPrefix("count") { inner.column.isLarge = false }
            if inner.text.hasPrefix("integral") { continue }
            guard let expression = transformation(inner) else { continue }
            if chance(20), let twice = transformation(expression) {
                list.add(twice.text, twice.column, alias: alias(index, isInner))
            } else {
                list.add(expression.text, expression.column, alias: alias(index, isInner))
            }
        }
        if chance(20), !list.items.isEmpty {
            let other = call(pick(source.fields), hasBuckets: true)
            list.add(other.text, other.column, alias: "o")
        }
        return list
    }
}

extension RandomStatement {
    enum Shape {
        case raw, aggregates, selector, ranked, distinct
        /// Functions of neighboring points.
        case points
        /// Functions of neighboring buckets.
        case buckets
    }

    mutating func list(
        _ shape: Shape, _ source: Source, hasBuckets: Bool, isInner: Bool
    ) -> List {
        switch shape {
        case .raw: return rawList(source, isInner: isInner)
        case .aggregates:
            return aggregateList(source, hasBuckets: hasBuckets, isInner: isInner)
        case .selector: return selectorList(source, isInner: isInner)
        case .ranked: return rankedList(source, isInner: isInner)
        case .distinct:
            var list = List()
            let fields = source.fields.filter(\.isExact)
            guard !fields.isEmpty else { return list }
            var column = pick(fields)
            let text = "distinct(\(Self.quoted(column.name)))"
            column.name = "distinct"
            list.add(text, column, alias: alias(0, isInner))
            return list
        case .points: return pointList(source, isInner: isInner)
        case .buckets: return bucketList(source, isInner: isInner)
        }
    }
}
