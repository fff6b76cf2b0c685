// Up to three faults, one after the other, chosen by a seed: in the workload with or without
// background work, in the recovery from it, and in the recovery from that.
//
// COZDB_FAULTS=10000 asks that many seeds; COZDB_SEED=N with it runs the one that a failure names.

import CozTestSupport
import Foundation
import Testing

@testable import CozDB

struct SeededFaultTests {
    private static let environment = ProcessInfo.processInfo.environment
    /// Whether more is asked for than an ordinary run has time for.
    static let isThorough = environment["COZDB_FAULTS"] != nil
    static let seedCount = environment["COZDB_FAULTS"].flatMap { Int($0) } ?? 100
    static let onlySeed = environment["COZDB_SEED"].flatMap { UInt64($0) }
    static let shareCount = 4

    static func kind(_ random: inout SeededRandom) -> FaultyFileSystem.Fault.Kind {
        let code = [EIO, ENOSPC, EDQUOT, EFBIG].randomElement(using: &random) ?? EIO
        switch Int.random(in: 0..<9, using: &random) {
        // Whoever is interrupted tries again: that ends, as no lasting trouble does.
        case 0: return .failure(Bool.random(using: &random) ? code : EINTR)
        case 1: return .reverted(code)
        case 2: return .space(code, .once)
        case 3: return .space(code, .lasting)
        case 4: return .space(code, .untilRemoval)
        case 5: return .kill(.byte(seed: random.next()))
        case 6: return .kill(.multiple(Bool.random(using: &random) ? 512 : 4096))
        case 7: return .kill(.after)
        default: return .kill(.before)
        }
    }

    static func loss(_ random: inout SeededRandom) -> FaultyFileSystem.Loss {
        let variants = FaultyFileSystem.Loss.variants(seed: random.next())
        return variants.randomElement(using: &random) ?? .everything
    }

    @Test(arguments: 0..<SeededFaultTests.shareCount)
    func `up to three faults of any kind lose nothing`(share: Int) throws {
        if let seed = Self.onlySeed {
            if share == 0 { try run(seed: seed) }
            return
        }
        for seed in stride(from: share, to: Self.seedCount, by: Self.shareCount) {
            try run(seed: UInt64(seed))
        }
    }

    private func run(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var workload = FaultWorkload()
        if seed % 4 == 3 {
            workload.options.compactsInBackground = true
            workload.options.compactionSegmentCount = 2
            workload.options.memtableSizeBytesMax = 1
        }
        let callCount = try FaultTests.whole.get().system.callCount
        var fault = (call: Int.random(in: 0..<callCount, using: &random), kind: Self.kind(&random))
        var system = FaultyFileSystem(faults: [.init(at: fault.call, fault.kind)])
        let progress = try workload.run(on: system)
        var what = "seed \(seed): \(fault.kind) at call \(fault.call)"
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            let loss = Self.loss(&random)
            fault = (Int.random(in: 0..<50, using: &random), Self.kind(&random))
            system = system.survivor(loss, faults: [.init(at: fault.call, fault.kind)])
            what += ", \(loss), \(fault.kind) at call \(fault.call) of recovery"
            let database = try? workload.open(system)
            system.freeSpace()
            try? database?.close()
        }
        let loss = Self.loss(&random)
        workload.check(system.survivor(loss), progress, "\(what), \(loss)")
    }
}
