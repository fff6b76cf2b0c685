// The program that the regular expression matcher runs, compiled from the syntax tree.

/// A zero-width condition between two scalars.
enum RegexAssertion: Sendable {
    case textStart, textEnd, lineStart, lineEnd, wordBoundary, noWordBoundary

    func holds(before: UInt32?, after: UInt32?) -> Bool {
        switch self {
        case .textStart: before == nil
        case .textEnd: after == nil
        case .lineStart: before == nil || before == 10
        case .lineEnd: after == nil || after == 10
        case .wordBoundary: isWord(before) != isWord(after)
        case .noWordBoundary: isWord(before) == isWord(after)
        }
    }

    private func isWord(_ scalar: UInt32?) -> Bool {
        guard let scalar, scalar < 128 else { return false }
        return UInt8(scalar).isWord
    }
}

/// A set of scalars, possibly negated or case-insensitive.
struct RegexSet: Sendable {
    var ranges: [ClosedRange<UInt32>] = []
    /// Unicode general categories (`\pL`), each with a flag for exclusion.
    var categories: [(name: String, negated: Bool)] = []
    var isNegated = false
    var ignoresCase = false

    func contains(_ scalar: UInt32) -> Bool {
        var isIn = holds(scalar)
        if !isIn, ignoresCase {
            isIn = RegexFolding.others(scalar).contains { holds($0) }
        }
        return isIn != isNegated
    }

    private func holds(_ scalar: UInt32) -> Bool {
        if ranges.contains(where: { $0.contains(scalar) }) { return true }
        guard !categories.isEmpty, let scalar = Unicode.Scalar(scalar) else { return false }
        return categories.contains { RegexCategory.contains($0.name, scalar) != $0.negated }
    }
}

extension RegexSet: Hashable {
    static func == (left: RegexSet, right: RegexSet) -> Bool {
        left.ranges == right.ranges && left.isNegated == right.isNegated
            && left.ignoresCase == right.ignoresCase
            && left.categories.elementsEqual(right.categories, by: ==)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ranges)
        hasher.combine(isNegated)
        hasher.combine(ignoresCase)
        for category in categories { hasher.combine(category.name) }
    }
}

/// The syntax tree of a regular expression, without captures.
indirect enum RegexNode: Sendable {
    case empty
    case scalar(RegexSet)
    case assertion(RegexAssertion)
    case sequence([RegexNode])
    case choice([RegexNode])
    case repetition(RegexNode, minimum: Int, maximum: Int?)
}

/// The instructions of the NFA; the first one is its start state.
struct RegexProgram: Sendable {
    enum Instruction: Sendable {
        case scalar(Int)
        case assert(RegexAssertion)
        case split(Int, Int)
        case jump(Int)
        case match
    }

    private(set) var instructions: [Instruction] = []
    private(set) var sets: [RegexSet] = []
    private(set) var exactText: String?
    /// Whether a match can only begin where the text begins (`^`).
    let isAnchored: Bool

    /// The maximum program size. Repetition multiplies; larger expressions are refused.
    static let instructionCountMax = 4000

    /// The index of each set in `sets`; equal sets are stored once.
    private var setNumbers: [RegexSet: Int] = [:]

    init(_ node: RegexNode, of pattern: String) throws(DatabaseError) {
        isAnchored = RegexProgram.isAnchored(node)
        try append(node, pattern)
        instructions.append(.match)
        setNumbers = [:]
        exactText = RegexProgram.exactText(node)
    }

    private mutating func append(_ node: RegexNode, _ pattern: String) throws(DatabaseError) {
        guard instructions.count < RegexProgram.instructionCountMax else {
            throw DatabaseError(
                .usage,
                "error parsing regexp: expression too large (more than "
                    + "\(RegexProgram.instructionCountMax) states): `\(pattern)`")
        }
        switch node {
        case .empty: break
        case .scalar(let set):
            let number = setNumbers[set] ?? sets.count
            instructions.append(.scalar(number))
            guard number == sets.count else { break }
            setNumbers[set] = number
            sets.append(set)
        case .assertion(let assertion): instructions.append(.assert(assertion))
        case .sequence(let parts):
            for part in parts { try append(part, pattern) }
        case .choice(let parts): try append(choice: parts, pattern)
        case .repetition(let part, let minimum, let maximum):
            let start = instructions.count
            for _ in 0..<minimum {
                try append(part, pattern)
                // Repeating a part that reads nothing has no effect.
                if instructions.count == start { return }
            }
            if let maximum {
                try append(optional: part, count: maximum - minimum, pattern)
            } else {
                try append(star: part, pattern)
            }
        }
    }

    private mutating func append(
        choice parts: [RegexNode], _ pattern: String
    ) throws(DatabaseError) {
        var jumps: [Int] = []
        for (index, part) in parts.enumerated() {
            let isLast = index + 1 == parts.count
            let split = instructions.count
            if !isLast { instructions.append(.jump(0)) }
            try append(part, pattern)
            if !isLast {
                jumps.append(instructions.count)
                instructions.append(.jump(0))
                instructions[split] = .split(split + 1, instructions.count)
            }
        }
        for jump in jumps { instructions[jump] = .jump(instructions.count) }
    }

    private mutating func append(
        optional part: RegexNode, count: Int, _ pattern: String
    ) throws(DatabaseError) {
        var splits: [Int] = []
        for _ in 0..<count {
            splits.append(instructions.count)
            instructions.append(.jump(0))
            try append(part, pattern)
        }
        for split in splits { instructions[split] = .split(split + 1, instructions.count) }
    }

    private mutating func append(star part: RegexNode, _ pattern: String) throws(DatabaseError) {
        let split = instructions.count
        instructions.append(.jump(0))
        try append(part, pattern)
        instructions.append(.jump(split))
        instructions[split] = .split(split + 1, instructions.count)
    }

    private static func isAnchored(_ node: RegexNode) -> Bool {
        switch node {
        case .assertion(let assertion): assertion == .textStart
        case .sequence(let parts): parts.first.map(isAnchored) ?? false
        case .choice(let parts): !parts.isEmpty && parts.allSatisfy(isAnchored)
        case .repetition(let part, let minimum, _): minimum > 0 && isAnchored(part)
        case .empty, .scalar: false
        }
    }

    private static func exactText(_ node: RegexNode) -> String? {
        guard case .sequence(let parts) = node, parts.count >= 2,
            case .assertion(.textStart) = parts[0],
            case .assertion(.textEnd) = parts[parts.count - 1]
        else { return nil }
        var text = ""
        for part in parts[1..<(parts.count - 1)] {
            guard case .scalar(let set) = part, !set.isNegated, !set.ignoresCase,
                set.categories.isEmpty, set.ranges.count == 1,
                set.ranges[0].lowerBound == set.ranges[0].upperBound,
                let scalar = Unicode.Scalar(set.ranges[0].lowerBound)
            else { return nil }
            text.unicodeScalars.append(scalar)
        }
        return text
    }
}

/// Unicode general categories by their names in Go.
enum RegexCategory {
    static let names: Set<String> = [
        "Any", "C", "Cc", "Cf", "Co", "Cs", "L", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me",
        "Mn", "N", "Nd", "Nl", "No", "P", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "S", "Sc",
        "Sk", "Sm", "So", "Z", "Zl", "Zp", "Zs",
    ]

    static func contains(_ name: String, _ scalar: Unicode.Scalar) -> Bool {
        if name == "Any" { return true }
        let category = letters(scalar.properties.generalCategory)
        return name.count == 1 ? category.first == name.first : category == name
    }

    private static func letters(_ category: Unicode.GeneralCategory) -> String {
        switch category {
        case .uppercaseLetter: "Lu"
        case .lowercaseLetter: "Ll"
        case .titlecaseLetter: "Lt"
        case .modifierLetter: "Lm"
        case .otherLetter: "Lo"
        case .nonspacingMark: "Mn"
        case .spacingMark: "Mc"
        case .enclosingMark: "Me"
        case .decimalNumber: "Nd"
        case .letterNumber: "Nl"
        case .otherNumber: "No"
        case .connectorPunctuation: "Pc"
        case .dashPunctuation: "Pd"
        case .openPunctuation: "Ps"
        case .closePunctuation: "Pe"
        case .initialPunctuation: "Pi"
        case .finalPunctuation: "Pf"
        case .otherPunctuation: "Po"
        case .mathSymbol: "Sm"
        case .currencySymbol: "Sc"
        case .modifierSymbol: "Sk"
        case .otherSymbol: "So"
        case .spaceSeparator: "Zs"
        case .lineSeparator: "Zl"
        case .paragraphSeparator: "Zp"
        case .control: "Cc"
        case .format: "Cf"
        case .surrogate: "Cs"
        case .privateUse: "Co"
        case .unassigned: "Cn"
        @unknown default: "Cn"
        }
    }
}
