// A fault at every single call of a standard workload: whatever fails, and whatever a power loss
// leaves, the database opens with whole commits, at least those acknowledged.
//
// COZDB_FAULT_CALL=N runs only the call that a failure names.

import CozTestSupport
import Foundation
import Testing

@testable import CozDB

struct FaultTests {
    typealias Kind = FaultyFileSystem.Fault.Kind

    /// What every call meets.
    enum Trouble: CaseIterable {
        case killInTheMiddle, killAtAnyByte, killAtSector, killAtPage, killAfter
        case inputOutputError, revertingError, interruptedCall
        case noSpaceOnce, noSpace, noSpaceUntilRemoval
        case interruption, short

        /// - Parameter call: a lack of space has three names, which take turns.
        func kind(_ call: Int) -> Kind {
            switch self {
            case .killInTheMiddle: .kill(.half)
            case .killAtAnyByte: .kill(.byte(seed: 7))
            case .killAtSector: .kill(.multiple(512))
            case .killAtPage: .kill(.multiple(4096))
            case .killAfter: .kill(.after)
            case .inputOutputError: .failure(EIO)
            case .revertingError: .reverted(EIO)
            case .interruptedCall: .failure(EINTR)
            case .noSpaceOnce: .space(ENOSPC, .once)
            case .noSpace: .space([ENOSPC, EDQUOT, EFBIG][call % 3], .lasting)
            case .noSpaceUntilRemoval: .space(ENOSPC, .untilRemoval)
            case .interruption: .interruption
            case .short: .short
            }
        }

        /// Whether the trouble is another than at any other call.
        func concerns(_ call: String) -> Bool {
            let name = call.prefix { $0 != " " }
            let takesSpace = [
                "create", "mkdir", "rename", "pwrite", "posix_fallocate", "fsync", "fdatasync",
            ].contains(name)
            switch self {
            case .inputOutputError: return true
            case .interruption, .short: return name == "pread" || name == "pwrite"
            case .interruptedCall:
                return takesSpace && name != "pwrite" || name == "unlink" || name == "flock"
            case .revertingError, .killAfter:
                return ["pwrite", "rename", "fsync", "fdatasync"].contains(name)
            case .killInTheMiddle, .killAtAnyByte, .killAtSector, .killAtPage:
                return name == "pwrite"
            case .noSpaceOnce, .noSpace, .noSpaceUntilRemoval:
                return takesSpace
            }
        }

        /// The call goes on as if nothing had been.
        var isHarmless: Bool { self == .interruption || self == .short }

        /// What is checked besides the file system as the same process finds it.
        func losses(_ call: Int) -> [FaultyFileSystem.Loss] {
            switch self {
            case .interruption, .short: [.everything]
            case .noSpaceUntilRemoval, .interruptedCall: []
            case .killInTheMiddle, .killAtAnyByte, .killAtSector, .killAtPage, .killAfter:
                [call % 2 == 0 ? .nothing : .random(seed: UInt64(call))]
            default: [.random(seed: UInt64(call))]
            }
        }
    }

    /// What the workload leaves after each number of changes.
    static let prefixes = Result { try FaultWorkload.prefixes() }

    /// A run without faults, which kept what was there before each call.
    static let whole = Result {
        let system = FaultyFileSystem()
        system.recordStates()
        return (system: system, progress: try FaultWorkload().run(on: system))
    }

    static let onlyCall = ProcessInfo.processInfo.environment["COZDB_FAULT_CALL"].flatMap {
        Int($0)
    }

    @Test func `every change of the workload changes something`() throws {
        let prefixes = try FaultTests.prefixes.get()
        for number in prefixes.indices.dropFirst() {
            #expect(!prefixes[..<number].contains(prefixes[number]), "change \(number)")
        }
    }

    @Test func `the workload runs without faults`() throws {
        let (system, progress) = try Self.whole.get()
        #expect(progress.failure == nil)
        #expect(progress.acknowledged == FaultWorkload.changeCount)
        #expect(system.callCount > 200)
        FaultWorkload().check(system.survivor(.everything), progress, "end")
    }

    private static let shareCount = 4

    /// Neighbors, so that states that a call leaves as they were are known.
    private static func calls(_ share: Int) throws -> [(Int, String)] {
        let calls = try whole.get().system.calls
        return calls.indices.filter {
            $0 * shareCount / calls.count == share && (onlyCall == nil || onlyCall == $0)
        }
        .map { ($0, calls[$0]) }
    }

    @Test(arguments: 0..<FaultTests.shareCount)
    func `a kill and a power loss before any call lose nothing acknowledged`(share: Int) throws {
        let (system, progress) = try Self.whole.get()
        for (call, name) in try Self.calls(share) {
            let progress = progress.before(call)
            for loss in FaultyFileSystem.Loss.variants(seed: UInt64(call)) {
                FaultWorkload().check(
                    system.survivor(ofKillBefore: call, loss), progress,
                    "kill before call \(call) (\(name)), \(loss)")
            }
        }
    }

    @Test(arguments: Trouble.allCases, 0..<FaultTests.shareCount)
    func `trouble at any call loses nothing acknowledged`(trouble: Trouble, share: Int) throws {
        for (call, name) in try Self.calls(share) where trouble.concerns(name) {
            try meet(trouble, at: call, named: name)
        }
    }

    private func meet(_ trouble: Trouble, at call: Int, named name: String) throws {
        let workload = FaultWorkload()
        let (recorded, sessions) = try (Self.whole.get().system, Self.whole.get().progress.sessions)
        // The sessions before are those of the recorded run.
        let session = try #require(sessions.last { $0.firstCall <= call })
        let system = recorded.resumed(
            at: session.firstCall, faults: [.init(at: call, trouble.kind(call))])
        let progress = try workload.run(on: system, from: session)
        let what = "\(trouble) at call \(call) (\(name))"
        if trouble.isHarmless {
            #expect(progress.failure == nil, "\(what)")
        }
        let isReading = ["pread", "open", "fstat", "mmap"].contains { name.hasPrefix($0) }
        for loss in trouble.losses(call) where !isReading || trouble.isHarmless {
            workload.check(system.survivor(loss), progress, "\(what), then \(loss)")
        }
        if case .kill = trouble.kind(call) { return }
        if trouble.isHarmless { return }
        workload.check(system, progress, "\(what), in the same process")
    }
}
