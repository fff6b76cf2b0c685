// A fault at every single call of a standard workload: whatever fails, and whatever a power loss
// leaves, the database opens with whole commits, at least those acknowledged.

import CozTestSupport
import Glibc
import Testing

@testable import CozDB

struct FaultTests {
    static let prefixes = Result { try FaultWorkload.prefixes() }

    /// The kinds of trouble that every call meets.
    enum Trouble: CaseIterable {
        case kill, powerLossOfAll, powerLossByChance, otherPowerLossByChance
        case inputOutputError, inputOutputErrorThenPowerLoss
        case noSpace, noSpaceThenPowerLoss

        func kind() -> FaultyFileSystem.Fault.Kind {
            switch self {
            case .kill, .powerLossOfAll, .powerLossByChance, .otherPowerLossByChance: .crash
            case .inputOutputError, .inputOutputErrorThenPowerLoss: .failure(EIO)
            case .noSpace, .noSpaceThenPowerLoss: .noSpace
            }
        }

        func loss(_ seed: Int) -> FaultyFileSystem.Loss {
            switch self {
            case .kill, .inputOutputError, .noSpace: .nothing
            case .powerLossOfAll: .everything
            case .powerLossByChance, .inputOutputErrorThenPowerLoss, .noSpaceThenPowerLoss:
                .random(seed: UInt64(seed))
            case .otherPowerLossByChance: .random(seed: UInt64(seed) + 1_000_000)
            }
        }
    }

    @Test func `every change of the workload changes something`() throws {
        let prefixes = try Self.prefixes.get()
        for number in prefixes.indices.dropFirst() {
            #expect(!prefixes[..<number].contains(prefixes[number]), "change \(number)")
        }
    }

    @Test func `the workload runs without faults`() throws {
        let system = FaultyFileSystem()
        let workload = FaultWorkload()
        let progress = try workload.run(on: system)
        #expect(progress.failure == nil)
        #expect(progress.acknowledged == FaultWorkload.changeCount)
        #expect(system.callCount > 150)
        try workload.check(system.survivor(.everything), progress, Self.prefixes.get(), "end")
    }

    @Test(arguments: Trouble.allCases)
    func `trouble at any call loses nothing acknowledged`(trouble: Trouble) throws {
        let workload = FaultWorkload()
        let prefixes = try Self.prefixes.get()
        let whole = FaultyFileSystem()
        _ = try workload.run(on: whole)
        for call in 0..<whole.callCount {
            let system = FaultyFileSystem(faults: [.init(at: call, trouble.kind())])
            let progress = try workload.run(on: system)
            let what = "\(trouble) at call \(call), \(whole.calls[call])"
            try workload.check(
                system.survivor(trouble.loss(call)), progress, prefixes, what)
        }
    }
}
