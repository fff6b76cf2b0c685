// A second fault while the first is recovered from, at every call of the recovery, and by seeds a
// third while that is.

import CozTestSupport
import Glibc
import Testing

@testable import CozDB

struct RecoveryFaultTests {
    /// What a kill of the workload left, with a recovery that is like no other.
    struct Start {
        var what: String
        var progress: FaultWorkload.Progress
        /// Untouched.
        var left: FaultyFileSystem
        /// After the recovery, with what was there before each of its calls.
        var recovered: FaultyFileSystem
    }

    /// Recoveries that make the same calls are one; numbers of files do not matter.
    static let starts = Result { () throws -> [Start] in
        let (system, progress) = try FaultTests.whole.get()
        var starts: [Start] = []
        var seen: Set<[String]> = []
        for call in 0..<system.callCount {
            for loss in [FaultyFileSystem.Loss.nothing, .random(seed: UInt64(call))] {
                let left = system.survivor(ofKillBefore: call, loss)
                let recovered = left.survivor(.nothing)
                recovered.recordStates()
                _ = try? FaultWorkload().open(recovered)
                let shape = recovered.calls.map { $0.filter { !$0.isNumber } }
                guard seen.insert(shape).inserted else { continue }
                let what = "kill before call \(call) (\(system.calls[call])), \(loss)"
                starts.append(
                    Start(
                        what: what, progress: progress.before(call), left: left,
                        recovered: recovered))
            }
        }
        return starts
    }

    private static let shareCount = 4

    private static func share(_ share: Int) throws -> [Start] {
        let starts = try starts.get()
        // A third of them in an ordinary run: steps of another length than the shares have.
        let step = SeededFaultTests.isThorough ? 1 : 3
        return stride(from: share, to: starts.count, by: 1)
            .filter { $0 % shareCount == share && ($0 / shareCount) % step == 0 }
            .map { starts[$0] }
    }

    @Test(arguments: 0..<RecoveryFaultTests.shareCount)
    func `a second crash at any call of recovery loses nothing`(share: Int) throws {
        for start in try Self.share(share) {
            let calls = start.recovered.calls
            for call in calls.indices {
                for loss in [FaultyFileSystem.Loss.nothing, .random(seed: UInt64(call))] {
                    FaultWorkload().check(
                        start.recovered.survivor(ofKillBefore: call, loss), start.progress,
                        "\(start.what), again before call \(call) of recovery (\(calls[call])), "
                            + "\(loss)")
                }
            }
        }
    }

    @Test(arguments: 0..<RecoveryFaultTests.shareCount)
    func `an error at any call of recovery loses nothing`(share: Int) throws {
        let workload = FaultWorkload()
        let kinds: [FaultyFileSystem.Fault.Kind] = [
            .failure(EIO), .reverted(EIO), .space(ENOSPC, .lasting),
        ]
        for (index, start) in try Self.share(share).enumerated() {
            let calls = start.recovered.calls
            for call in calls.indices {
                let kind = kinds[(call + index) % kinds.count]
                let second = start.left.survivor(.nothing, faults: [.init(at: call, kind)])
                _ = try? workload.open(second)
                second.freeSpace()
                let what = "\(start.what), \(kind) at call \(call) of recovery (\(calls[call]))"
                if call % 2 == 0 {
                    workload.check(second, start.progress, "\(what), in the same process")
                } else {
                    workload.check(
                        second.survivor(.random(seed: UInt64(call))), start.progress,
                        "\(what), then power loss with seed \(call)")
                }
            }
        }
    }
}
