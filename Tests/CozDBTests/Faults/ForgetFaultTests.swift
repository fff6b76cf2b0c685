// Trouble at every call of a forget: the participant is forgotten wholly or not at all, the others
// have all they had, and what was acknowledged holds.

import CozTestSupport
import Testing

@testable import CozDB

struct ForgetFaultTests {
    /// Every call with `COZDB_FAULTS`; else each kind of trouble has some, and all have them all.
    private static let step = SeededFaultTests.isThorough ? 1 : 8

    @Test(arguments: FaultTests.Trouble.allCases)
    func `trouble at any call of a forget leaves all or nothing of somebody`(
        trouble: FaultTests.Trouble
    ) throws {
        let planted = PlantedDatabase(identity: .standard, rowCount: 4)
        let made = FaultyFileSystem()
        try planted.make(on: made)
        let before = try contents(planted, made.survivor(.nothing))
        let whole = made.survivor(.nothing)
        #expect(try forget(planted, on: whole))
        var outcomes: Set<Bool> = []
        let kind = FaultTests.Trouble.allCases.firstIndex(of: trouble) ?? 0
        for call in stride(from: kind % Self.step, to: whole.callCount, by: Self.step) {
            let what = "\(trouble) at call \(call), \(whole.calls[call])"
            let system = made.survivor(.nothing, faults: [.init(at: call, trouble.kind(call))])
            let isAcknowledged = (try? forget(planted, on: system)) ?? false
            for loss in [.nothing] + trouble.losses(call) {
                let isListed = try judge(
                    planted, system.survivor(loss), before, isAcknowledged, "\(what), \(loss)")
                outcomes.insert(isListed)
            }
        }
        if !trouble.isHarmless { #expect(outcomes == [true, false]) }
    }

    /// Whether the participant is forgotten in what is left.
    private func judge(
        _ planted: PlantedDatabase, _ rest: FaultyFileSystem, _ before: Contents,
        _ isAcknowledged: Bool, _ what: Comment
    ) throws -> Bool {
        let others = PlantedDatabase.others(before)
        let database = try planted.open(on: rest)
        let after = try Contents(database)
        let isListed = try database.forgottenList().contains(PlantedDatabase.him)
        #expect(after == (isListed ? others : before), what)
        #expect(isListed || !isAcknowledged, what)
        let stored = try StoredBytes(PlantedDatabase.path, on: rest)
        #expect(stored.unnamed == [], what)
        if isListed { #expect(stored.places(of: PlantedDatabase.markers) == [], what) }
        _ = try database.forget([PlantedDatabase.him])
        #expect(try Contents(database) == others, what)
        try database.close()
        let checked = try Database.check(PlantedDatabase.path, on: rest) { _ in }
        #expect(checked.damaged == 0, what)
        return isListed
    }

    private func contents(
        _ planted: PlantedDatabase, _ system: FaultyFileSystem
    ) throws -> Contents {
        let database = try planted.open(on: system)
        defer { try? database.close() }
        return try Contents(database)
    }

    /// Whether the participant was reported as forgotten, however closing ended.
    private func forget(_ planted: PlantedDatabase, on system: FaultyFileSystem) throws -> Bool {
        let database = try planted.open(on: system)
        defer { try? database.close() }
        _ = try database.forget([PlantedDatabase.him])
        return true
    }
}
