// Regular expressions with the syntax of Go (RE2), matched by stepping all states of an automaton
// at once: each character of a text costs at most a look at each of
// `RegexProgram.instructionCountMax` states, some ten nanoseconds each, whatever the expression
// is; a long match can be cancelled.
// A library would bring backtracking or C++; the part that InfluxQL needs, a yes or no, is small.

/// A compiled regular expression.
struct Regex: Sendable {
    /// The expression as written, without slashes.
    let pattern: String
    private let program: RegexProgram

    /// - Throws: `usage` with Go's words for what is wrong.
    init(_ pattern: String) throws(DatabaseError) {
        self.pattern = pattern
        var parser = RegexParser(pattern)
        program = try RegexProgram(try parser.parse(), of: pattern)
    }

    /// The expression between slashes, as a statement writes it.
    var literal: String {
        var text = "/"
        for scalar in pattern.unicodeScalars {
            if scalar == "/" { text += "\\" }
            text.unicodeScalars.append(scalar)
        }
        return text + "/"
    }

    /// Whether the expression is found anywhere in the text.
    func matches(_ text: String) -> Bool {
        var matcher = RegexMatcher(program)
        return matcher.matches(text.unicodeScalars)
    }

    /// The one text that the expression matches when it is `^text$`; nil for every other.
    var exactText: String? { program.exactText }
}

/// The states of a match in progress. Reused from text to text it allocates nothing.
struct RegexMatcher {
    private let program: RegexProgram
    private var current = StateList()
    private var following = StateList()
    private var stack: [Int] = []
    /// What each set says of the scalar that is read: twice the number of its step, and one more
    /// where it has it. A scalar is looked for in each set once, whatever the number of states.
    private var verdicts: [Int]
    private var step = 0
    /// States looked at since it was asked whether to go on.
    private var work = 0
    private static let workCountMax = 4096

    init(_ program: RegexProgram) {
        self.program = program
        verdicts = Array(repeating: -1, count: program.sets.count)
        current.reserve(program.instructions.count)
        following.reserve(program.instructions.count)
    }

    mutating func matches(_ text: String.UnicodeScalarView) -> Bool {
        current.removeAll()
        var before: UInt32?
        var iterator = text.makeIterator()
        var next = iterator.next()?.value
        while true {
            // The expression may begin at any place.
            if RegexMatcher.follow(
                program, from: 0, before: before, after: next, into: &current, &stack)
            {
                return true
            }
            guard let scalar = next else { return false }
            let after = iterator.next()?.value
            following.removeAll()
            step += 2
            work += current.states.count + 1
            if work >= RegexMatcher.workCountMax {
                work = 0
                // Who gave up the query sees to it that nobody looks at the answer.
                if StopSign.isRaised { return false }
            }
            for state in current.states {
                guard case .scalar(let set) = program.instructions[state] else { continue }
                if verdicts[set] < step {
                    verdicts[set] = step + (program.sets[set].contains(scalar) ? 1 : 0)
                }
                guard verdicts[set] > step else { continue }
                if RegexMatcher.follow(
                    program, from: state + 1, before: scalar, after: after, into: &following, &stack
                ) {
                    return true
                }
            }
            swap(&current, &following)
            before = scalar
            next = after
        }
    }

    /// Adds a state and everything reachable from it without reading; true when the match is done.
    private static func follow(
        _ program: RegexProgram, from state: Int, before: UInt32?, after: UInt32?,
        into list: inout StateList, _ stack: inout [Int]
    ) -> Bool {
        stack.removeAll(keepingCapacity: true)
        stack.append(state)
        while let state = stack.popLast() {
            guard list.insert(state) else { continue }
            switch program.instructions[state] {
            case .scalar: break
            case .match: return true
            case .jump(let target): stack.append(target)
            case .split(let first, let second):
                stack.append(second)
                stack.append(first)
            case .assert(let condition):
                if condition.holds(before: before, after: after) { stack.append(state + 1) }
            }
        }
        return false
    }
}

/// A set of states that is emptied in no time.
private struct StateList {
    private(set) var states: [Int] = []
    private var places: [Int] = []

    mutating func reserve(_ count: Int) {
        places = Array(repeating: 0, count: count)
        states.reserveCapacity(count)
    }

    mutating func removeAll() { states.removeAll(keepingCapacity: true) }

    /// False when the state was there already.
    mutating func insert(_ state: Int) -> Bool {
        let place = places[state]
        if place < states.count, states[place] == state { return false }
        places[state] = states.count
        states.append(state)
        return true
    }
}
