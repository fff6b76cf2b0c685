// What goes wrong at a numbered call of a file system in memory.

internal import Glibc

extension FaultyFileSystem {
    /// What goes wrong at a call.
    package struct Fault: Sendable {
        package enum Kind: Sendable, Hashable {
            /// The process ends in this call: it and all later calls fail.
            case kill(Tear)
            /// The call fails; a write gets as far as its middle. A failed sync of a file forgets
            /// what it should have made durable, as Linux does: the next one succeeds.
            case failure(Int32)
            /// The call fails and does nothing; after a failed sync of a file programs see again
            /// what the disk has. That of a directory forgets its names: the next one succeeds,
            /// and they go with the power.
            case reverted(Int32)
            /// This call fails where it takes space, and later ones as long as there is none.
            case space(Int32, Shortage)
            /// A read or write is interrupted by a signal; other calls go on.
            case interruption
            /// A read or write does less than asked for; other calls go on.
            case short

            /// A kill in the middle of the call.
            package static let crash = Kind.kill(.half)
            /// A disk that is full for good.
            package static let noSpace = Kind.space(ENOSPC, .lasting)
        }

        /// How far a write gets before the process ends; other calls happen only `after`.
        package enum Tear: Sendable, Hashable {
            case before
            case half
            case after
            /// At any byte, chosen by the seed and the number of the call.
            case byte(seed: UInt64)
            /// At the multiple of these bytes of the file that is nearest before the middle.
            case multiple(Int)

            func size(_ count: Int, at offset: Int, call: Int) -> Int {
                switch self {
                case .before: return 0
                case .half: return (count + 1) / 2
                case .after: return count
                case .byte(let seed):
                    var random = SeededRandom(seed: seed &+ UInt64(call))
                    return Int.random(in: 0...count, using: &random)
                case .multiple(let size):
                    return max(0, (offset + count / 2) / size * size - offset)
                }
            }
        }

        /// How long space is missing.
        package enum Shortage: Sendable, Hashable {
            case once
            /// Until `freeSpace` is called.
            case lasting
            /// Until a file is removed or cut.
            case untilRemoval
        }

        package var call: Int
        package var kind: Kind
        /// Whether there is space again.
        var isOver = false

        /// - Parameter call: number of the call, from 0.
        package init(at call: Int, _ kind: Kind) {
            self.call = call
            self.kind = kind
        }
    }

    /// What a call leaves behind that fails, or in which the process ends.
    enum Remains {
        case killed(Fault.Tear)
        case failed
        case reverted
    }
}

extension FaultyFileSystem.Fault {
    /// What a fault does to a call.
    enum Effect {
        case none
        case short
        case interruption
        case kill(Tear)
        case failure(Int32, isReverted: Bool)
    }

    func effect(at number: Int, name: String, takesSpace: Bool) -> Effect {
        let isTransfer = name == "pread" || name == "pwrite"
        switch kind {
        case .kill(let tear): return number == call ? .kill(tear) : .none
        case .failure(let code): return number == call ? .failure(code, isReverted: false) : .none
        case .reverted(let code): return number == call ? .failure(code, isReverted: true) : .none
        case .space(let code, let shortage):
            let isNow = shortage == .once ? number == call : number >= call && !isOver
            return isNow && takesSpace ? .failure(code, isReverted: false) : .none
        case .interruption: return number == call && isTransfer ? .interruption : .none
        case .short: return number == call && isTransfer ? .short : .none
        }
    }
}
