// Regular expressions with Go's (RE2) syntax, matched by simulating an NFA. Each character visits
// each of at most `RegexProgram.instructionCountMax` states once, at some ten nanoseconds per
// state, for any expression. A long match can be cancelled. A library would mean backtracking or
// C++; InfluxQL needs only a yes-or-no match, which is little code.

/// A compiled regular expression.
struct Regex: Sendable {
    /// The expression without slashes.
    let pattern: String
    private let program: RegexProgram

    /// - Throws: `usage` with Go's error text.
    init(_ pattern: String) throws(DatabaseError) {
        self.pattern = pattern
        var parser = RegexParser(pattern)
        program = try RegexProgram(try parser.parse(), of: pattern)
    }

    /// The expression between slashes, as it appears in a statement.
    var literal: String {
        var text = "/"
        for scalar in pattern.unicodeScalars {
            if scalar == "/" { text += "\\" }
            text.unicodeScalars.append(scalar)
        }
        return text + "/"
    }

    /// Returns whether the expression matches anywhere in the text.
    func matches(_ text: String) -> Bool {
        var matcher = RegexMatcher(program)
        return matcher.matches(text.unicodeScalars)
    }

    /// The only text that matches, if the expression has the form `^text$`; otherwise nil.
    var exactText: String? { program.exactText }
}

/// The states of a running match. Reusing a matcher for many texts avoids allocations.
struct RegexMatcher {
    private let program: RegexProgram
    private var current = StateList()
    private var following = StateList()
    private var stack: [Int] = []
    /// The cached result of each set for the current scalar: `step` for a miss, `step + 1` for a
    /// hit. Each set is tested at most once per scalar, regardless of the number of states.
    private var verdicts: [Int]
    private var step = 0
    /// States visited since the last cancellation check.
    private var work = 0
    private static let workCountMax = 4096
    /// States visited and sets tested so far; for tests of their bounds.
    private(set) var visitCount = 0
    private(set) var testCount = 0

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
            if before == nil || !program.isAnchored {
                // The match may start here.
                if RegexMatcher.follow(
                    program, from: 0, before: before, after: next, into: &current, &stack)
                {
                    return true
                }
            } else if current.states.isEmpty {
                return false
            }
            guard let scalar = next else { return false }
            let after = iterator.next()?.value
            following.removeAll()
            step += 2
            work += current.states.count + 1
            visitCount += current.states.count
            if work >= RegexMatcher.workCountMax {
                work = 0
                // The query is cancelled, so its caller discards the result.
                if CancellationCheck.isRaised { return false }
            }
            for state in current.states {
                guard case .scalar(let set) = program.instructions[state] else { continue }
                if verdicts[set] < step {
                    testCount += 1
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

    /// Adds a state and its epsilon closure. Returns whether the match is complete.
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

/// A sparse set of states; clearing it takes constant time.
private struct StateList {
    private(set) var states: [Int] = []
    private var places: [Int] = []

    mutating func reserve(_ count: Int) {
        places = Array(repeating: 0, count: count)
        states.reserveCapacity(count)
    }

    mutating func removeAll() { states.removeAll(keepingCapacity: true) }

    /// Returns false if the state was already in the set.
    mutating func insert(_ state: Int) -> Bool {
        let place = places[state]
        if place < states.count, states[place] == state { return false }
        places[state] = states.count
        states.append(state)
        return true
    }
}
