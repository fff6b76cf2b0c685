// Parses Go's regular expression syntax into a tree. Captures and lazy quantifiers are accepted and
// ignored because they do not affect whether a text matches.

struct RegexParser {
    /// The flags set by `(?ims)`; they apply until the end of the group.
    private struct Flags {
        var ignoresCase = false
        var isMultiline = false
        var dotMatchesNewline = false
    }

    private let pattern: String
    private let scalars: [UInt32]
    private var index = 0
    private var flags = Flags()
    private var depth = 0

    static let depthMax = 200
    static let repetitionMax = 1000

    init(_ pattern: String) {
        self.pattern = pattern
        scalars = pattern.unicodeScalars.map(\.value)
    }

    mutating func parse() throws(DatabaseError) -> RegexNode {
        let node = try choice()
        if index < scalars.count { throw failure("unexpected )", pattern) }
        return node
    }

    private mutating func choice() throws(DatabaseError) -> RegexNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= RegexParser.depthMax else {
            throw failure("expression nests too deeply", pattern)
        }
        var parts = [try sequence()]
        while take("|") { parts.append(try sequence()) }
        return parts.count == 1 ? parts[0] : .choice(parts)
    }

    private mutating func sequence() throws(DatabaseError) -> RegexNode {
        var parts: [RegexNode] = []
        while index < scalars.count, !isNext("|"), !isNext(")") {
            if isNext("\\"), index + 1 < scalars.count, scalars[index + 1] == scalar("Q") {
                index += 2
                parts += quoted()
                // A quantifier after the quotation applies to its last character.
                if let last = parts.popLast() { parts.append(try repetition(of: last)) }
                continue
            }
            guard let atom = try atom() else { continue }
            parts.append(try repetition(of: atom))
        }
        return .sequence(parts)
    }

    /// Returns nil for `(?i)`, which only sets flags.
    private mutating func atom() throws(DatabaseError) -> RegexNode? {
        let start = index
        index += 1
        switch scalars[start] {
        case scalar("("): return try group()
        case scalar("["): return .scalar(try bracketSet(from: start))
        case scalar("."):
            var set = RegexSet(isNegated: true)
            if !flags.dotMatchesNewline { set.ranges = [10...10] }
            return .scalar(set)
        case scalar("^"): return .assertion(flags.isMultiline ? .lineStart : .textStart)
        case scalar("$"): return .assertion(flags.isMultiline ? .lineEnd : .textEnd)
        case scalar("*"), scalar("+"), scalar("?"):
            throw failure("missing argument to repetition operator", text(start..<index))
        case scalar("\\"): return try escape()
        default: return literal(scalars[start])
        }
    }

    private func literal(_ value: UInt32) -> RegexNode {
        .scalar(RegexSet(ranges: [value...value], ignoresCase: flags.ignoresCase))
    }

    private mutating func quoted() -> [RegexNode] {
        var parts: [RegexNode] = []
        while index < scalars.count {
            if isNext("\\"), index + 1 < scalars.count, scalars[index + 1] == scalar("E") {
                index += 2
                break
            }
            parts.append(literal(scalars[index]))
            index += 1
        }
        return parts
    }

    // MARK: Repetition

    private mutating func repetition(of atom: RegexNode) throws(DatabaseError) -> RegexNode {
        var node = atom
        var isRepeated = false
        while index < scalars.count {
            let start = index
            var bounds: (Int, Int?)
            switch scalars[index] {
            case scalar("*"): bounds = (0, nil)
            case scalar("+"): bounds = (1, nil)
            case scalar("?"): bounds = (0, 1)
            case scalar("{"):
                guard let counted = try counts() else { return node }
                bounds = counted
                index -= 1
            default: return node
            }
            index += 1
            _ = take("?")
            if isRepeated {
                throw failure("invalid nested repetition operator", text(start..<index))
            }
            isRepeated = true
            node = .repetition(node, minimum: bounds.0, maximum: bounds.1)
        }
        return node
    }

    /// Parses `{2}`, `{2,}` or `{2,5}`. Returns nil for any other brace, which is a literal.
    private mutating func counts() throws(DatabaseError) -> (Int, Int?)? {
        let start = index
        index += 1
        guard let minimum = number() else {
            index = start
            return nil
        }
        var maximum: Int? = minimum
        if take(",") { maximum = number() }
        guard take("}") else {
            index = start
            return nil
        }
        guard minimum <= RegexParser.repetitionMax, (maximum ?? 0) <= RegexParser.repetitionMax,
            maximum ?? minimum >= minimum
        else { throw failure("invalid repeat count", text(start..<index)) }
        return (minimum, maximum)
    }

    private mutating func number() -> Int? {
        var value: Int?
        while index < scalars.count, let digit = RegexParser.digit(scalars[index], radix: 10) {
            value = min((value ?? 0) * 10 + digit, 1_000_000)
            index += 1
        }
        return value
    }

    // MARK: Groups

    private mutating func group() throws(DatabaseError) -> RegexNode? {
        let start = index - 1
        let saved = flags
        if take("?") {
            if take("P") || isNext("<") {
                guard take("<"), skipName() else {
                    throw failure("invalid named capture", text(start..<index))
                }
            } else if try !groupFlags(from: start) {
                return nil
            }
        }
        let node = try choice()
        guard take(")") else { throw failure("missing closing )", pattern) }
        flags = saved
        return node
    }

    private mutating func skipName() -> Bool {
        let start = index
        while index < scalars.count, !isNext(">") {
            guard scalars[index] < 128, let byte = UInt8(exactly: scalars[index]),
                byte.isWord
            else { return false }
            index += 1
        }
        return index > start && take(">")
    }

    /// Parses `(?i)` or `(?i:`. Returns whether an expression follows.
    private mutating func groupFlags(from start: Int) throws(DatabaseError) -> Bool {
        var value = true
        while index < scalars.count {
            let flag = scalars[index]
            let isDangling = scalars[index - 1] == scalar("-")
            index += 1
            switch flag {
            case scalar("i"): flags.ignoresCase = value
            case scalar("m"): flags.isMultiline = value
            case scalar("s"): flags.dotMatchesNewline = value
            case scalar("U"): break
            case scalar("-") where value: value = false
            case scalar(":") where !isDangling: return true
            case scalar(")") where !isDangling: return false
            default:
                throw failure("invalid or unsupported Perl syntax", text(start..<index))
            }
        }
        throw failure("missing closing )", pattern)
    }

    // MARK: Escapes and sets

    private mutating func escape() throws(DatabaseError) -> RegexNode {
        guard index < scalars.count else {
            throw failure("trailing backslash at end of expression", "")
        }
        switch scalars[index] {
        case scalar("A"): return assertion(.textStart)
        case scalar("z"): return assertion(.textEnd)
        case scalar("b"): return assertion(.wordBoundary)
        case scalar("B"): return assertion(.noWordBoundary)
        default: break
        }
        if var set = try setEscape() {
            set.ignoresCase = flags.ignoresCase
            return .scalar(set)
        }
        return literal(try scalarEscape())
    }

    private mutating func assertion(_ kind: RegexAssertion) -> RegexNode {
        index += 1
        return .assertion(kind)
    }

    /// Parses a class such as `\d` or `\pL` after its backslash.
    private mutating func setEscape() throws(DatabaseError) -> RegexSet? {
        let digits: [ClosedRange<UInt32>] = [48...57]
        let words: [ClosedRange<UInt32>] = [48...57, 65...90, 95...95, 97...122]
        let blanks: [ClosedRange<UInt32>] = [9...10, 12...13, 32...32]
        let letter = scalars[index]
        switch letter {
        case scalar("d"), scalar("D"):
            index += 1
            return RegexSet(ranges: digits, isNegated: letter == scalar("D"))
        case scalar("w"), scalar("W"):
            index += 1
            return RegexSet(ranges: words, isNegated: letter == scalar("W"))
        case scalar("s"), scalar("S"):
            index += 1
            return RegexSet(ranges: blanks, isNegated: letter == scalar("S"))
        case scalar("p"), scalar("P"): return try category()
        default: return nil
        }
    }

    private mutating func category() throws(DatabaseError) -> RegexSet {
        let start = index - 1
        var negated = scalars[index] == scalar("P")
        index += 1
        var name = ""
        if take("{") {
            if take("^") { negated.toggle() }
            while index < scalars.count, !isNext("}") {
                name += text(index..<(index + 1))
                index += 1
            }
            guard take("}") else {
                throw failure("invalid character class range", text(start..<index))
            }
        } else if index < scalars.count {
            name = text(index..<(index + 1))
            index += 1
        }
        if RegexCategory.names.contains(name) {
            return RegexSet(categories: [(name, false)], isNegated: negated)
        }
        guard let ranges = RegexScript.ranges(name) else {
            throw failure("invalid character class range", text(start..<index))
        }
        return RegexSet(ranges: ranges, isNegated: negated)
    }

    private mutating func scalarEscape() throws(DatabaseError) -> UInt32 {
        let start = index - 1
        let letter = scalars[index]
        index += 1
        switch letter {
        case scalar("n"): return 10
        case scalar("t"): return 9
        case scalar("r"): return 13
        case scalar("f"): return 12
        case scalar("v"): return 11
        case scalar("a"): return 7
        case scalar("x"): return try hexadecimal(from: start)
        case 48: return octal(letter)
        // A single digit would be a backreference, which cannot match in linear time.
        case 49...55 where index < scalars.count && (48...55).contains(scalars[index]):
            return octal(letter)
        default:
            let isWord =
                letter < 128
                && UInt8(letter).isWord
            guard letter < 128, !isWord || letter == scalar("_") else {
                throw failure("invalid escape sequence", text(start..<index))
            }
            return letter
        }
    }

    private mutating func hexadecimal(from start: Int) throws(DatabaseError) -> UInt32 {
        let isBraced = take("{")
        var value = 0
        var count = 0
        while index < scalars.count, count < (isBraced ? 6 : 2),
            let digit = RegexParser.digit(scalars[index], radix: 16)
        {
            value = value * 16 + digit
            count += 1
            index += 1
        }
        guard count > 0, isBraced ? take("}") : count == 2, Unicode.Scalar(UInt32(value)) != nil
        else { throw failure("invalid escape sequence", text(start..<min(index, scalars.count))) }
        return UInt32(value)
    }

    private mutating func octal(_ first: UInt32) -> UInt32 {
        var value = first - 48
        for _ in 0..<2 {
            guard index < scalars.count, (48...55).contains(scalars[index]) else { break }
            value = value * 8 + scalars[index] - 48
            index += 1
        }
        return value
    }

    /// Parses a bracket expression after its opening bracket.
    private mutating func bracketSet(from start: Int) throws(DatabaseError) -> RegexSet {
        var set = RegexSet(isNegated: take("^"), ignoresCase: flags.ignoresCase)
        var isFirst = true
        while true {
            guard index < scalars.count else {
                throw failure("missing closing ]", text(start..<index))
            }
            if !isFirst, take("]") { return set }
            isFirst = false
            if let ranges = try namedRanges() {
                set.ranges += ranges
                continue
            }
            if isNext("\\"), index + 1 < scalars.count {
                index += 1
                if let inner = try setEscape() {
                    add(inner, to: &set)
                    continue
                }
                index -= 1
            }
            let lower = try setScalar(from: start)
            var upper = lower
            if isNext("-"), index + 1 < scalars.count, scalars[index + 1] != scalar("]") {
                index += 1
                upper = try setScalar(from: start)
            }
            guard lower <= upper else {
                throw failure("invalid character class range", text(start..<index))
            }
            set.ranges.append(lower...upper)
        }
    }

    private mutating func setScalar(from start: Int) throws(DatabaseError) -> UInt32 {
        guard index < scalars.count else { throw failure("missing closing ]", text(start..<index)) }
        index += 1
        if scalars[index - 1] != scalar("\\") { return scalars[index - 1] }
        guard index < scalars.count else {
            throw failure("trailing backslash at end of expression", "")
        }
        return try scalarEscape()
    }

    private func add(_ inner: RegexSet, to set: inout RegexSet) {
        set.categories += inner.categories.map { ($0.name, $0.negated != inner.isNegated) }
        set.ranges +=
            inner.isNegated && inner.categories.isEmpty
            ? RegexParser.complement(inner.ranges) : inner.ranges
    }

    /// Parses a named class such as `[:alpha:]` inside brackets.
    private mutating func namedRanges() throws(DatabaseError) -> [ClosedRange<UInt32>]? {
        guard isNext("["), index + 1 < scalars.count, scalars[index + 1] == scalar(":") else {
            return nil
        }
        var end = index + 2
        while end + 1 < scalars.count,
            scalars[end] != scalar(":") || scalars[end + 1] != scalar("]")
        {
            end += 1
        }
        guard end + 1 < scalars.count else { return nil }
        var name = text((index + 2)..<end)
        let isNegated = name.utf8.first == UInt8(ascii: "^")
        if isNegated { name.removeFirst() }
        guard let ranges = RegexParser.named[name] else {
            throw failure("invalid character class range", text(index..<(end + 2)))
        }
        index = end + 2
        return isNegated ? RegexParser.complement(ranges) : ranges
    }

    private static let named: [String: [ClosedRange<UInt32>]] = [
        "alnum": [48...57, 65...90, 97...122], "alpha": [65...90, 97...122], "ascii": [0...127],
        "blank": [9...9, 32...32], "cntrl": [0...31, 127...127], "digit": [48...57],
        "graph": [33...126], "lower": [97...122], "print": [32...126],
        "punct": [33...47, 58...64, 91...96, 123...126], "space": [9...13, 32...32],
        "upper": [65...90], "word": [48...57, 65...90, 95...95, 97...122],
        "xdigit": [48...57, 65...70, 97...102],
    ]

    /// Returns the complement of sorted, disjoint ranges.
    private static func complement(_ ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
        var result: [ClosedRange<UInt32>] = []
        var next: UInt32 = 0
        for range in ranges {
            if range.lowerBound > next { result.append(next...(range.lowerBound - 1)) }
            next = range.upperBound + 1
        }
        result.append(next...0x10FFFF)
        return result
    }

    // MARK: Scalars

    private func scalar(_ value: Unicode.Scalar) -> UInt32 { value.value }

    private func isNext(_ value: Unicode.Scalar) -> Bool {
        index < scalars.count && scalars[index] == value.value
    }

    private mutating func take(_ value: Unicode.Scalar) -> Bool {
        guard isNext(value) else { return false }
        index += 1
        return true
    }

    private func text(_ range: Range<Int>) -> String {
        var text = ""
        for value in scalars[range.clamped(to: 0..<scalars.count)] {
            text.unicodeScalars.append(Unicode.Scalar(value) ?? "?")
        }
        return text
    }

    private static func digit(_ value: UInt32, radix: Int) -> Int? {
        guard let scalar = Unicode.Scalar(value), scalar.isASCII else { return nil }
        return Character(scalar).hexDigitValue.flatMap { $0 < radix ? $0 : nil }
    }

    private func failure(_ what: String, _ shown: String) -> DatabaseError {
        DatabaseError(.usage, "error parsing regexp: \(what): `\(shown)`")
    }
}
