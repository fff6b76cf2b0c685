// What must hold wherever a run of the workload broke off: the changes that are found are a prefix,
// with all that were acknowledged, each whole; nothing is damaged; and life goes on.

import CozTestSupport
import Synchronization
import Testing

@testable import CozDB

extension FaultWorkload {
    /// Something that is not as it must be.
    struct Finding: Error, CustomStringConvertible {
        var description: String
        init(_ description: String) { self.description = description }
    }

    /// Checks what a run left, makes the next change, closes the database and opens it again.
    ///
    /// - Throws: `Finding`, or what the database throws.
    func verify(_ system: FaultyFileSystem, _ progress: Progress) throws {
        let prefixes = try FaultTests.prefixes.get()
        try verifyFiles(system, isThere: progress.acknowledged > 0)
        let readable = try progress.acknowledged > 0 ? Contents(open(system, .readOnly)) : nil
        var database = try open(system)
        let found = try Contents(database)
        if let readable, readable != found { throw Finding("reader and writer find other rows") }
        let kept = prefixes.lastIndex(of: found)
        guard let kept, kept >= progress.acknowledged, kept <= progress.begun else {
            throw Finding("found \(kept.map { "\($0) changes" } ?? "no prefix of the changes")")
        }
        let next = try writeNext(database, after: found)
        try database.close()
        database = try open(system)
        try database.close()
        guard try Contents(open(system, .readOnly)) == next else {
            throw Finding("the next change is not there after closing")
        }
        try verifyFiles(system, isThere: true)
        try verifyNames(system)
        // What was closed is durable, whatever failed before.
        let last = system.survivor(.everything)
        guard try Contents(open(last, .readOnly)) == next else {
            throw Finding("a closed database lost rows with the power")
        }
    }

    /// What readers got after the failure.
    private func verifyAnswer(_ progress: Progress) throws {
        guard let answer = progress.answer else { return }
        let known = try FaultTests.prefixes.get()[progress.acknowledged...progress.begun]
        guard known.contains(answer) else { throw Finding("readers got something else") }
    }

    /// One more value, as small a change as there is.
    private func writeNext(_ database: Database, after found: Contents) throws -> Contents {
        var batch = WriteBatch()
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p0"], time: Timestamp(nanoseconds: 999),
            fields: ["heart": .float(1)])
        _ = try database.write(batch)
        var expected = found
        let cell = Contents.Cell(
            experiment: "dev", series: ["id_participant", "p0"], time: 999, column: "heart")
        expected.cells[cell] = .float(1)
        return expected
    }

    private func verifyFiles(_ system: FaultyFileSystem, isThere: Bool) throws {
        var damage: [CheckFinding] = []
        do throws(DatabaseError) {
            _ = try Database.check(FaultWorkload.path, on: system) { finding in
                if finding.severity == .damage { damage.append(finding) }
            }
        } catch {
            // Before the first manifest there is no database.
            guard error.kind == .notFound, !isThere else { throw error }
        }
        if let first = damage.first { throw Finding("check finds \(first)") }
    }

    private func verifyNames(_ system: FaultyFileSystem) throws {
        let manifest = try Manifest(decoding: system["db/MANIFEST"])
        var named = ["db/LOCK", "db/MANIFEST"]
        named += manifest.segments.map { "db/" + FileName.segment($0.number).text }
        named += manifest.rejects.map { "db/rejects/" + FileName.rejects($0.number).text }
        guard system.files == named.sorted() else {
            throw Finding("\(system.files) are not the files of the manifest, \(named.sorted())")
        }
    }

    /// States that were checked, and held: runs that are like no other until something fails
    /// leave the same files more often than not.
    private static let known = Mutex<Set<[Int]>>([])

    /// The same as a test's expectation. What was checked before is not again.
    ///
    /// - Parameter what: seed, call and kind, to replay it.
    func check(_ system: FaultyFileSystem, _ progress: Progress, _ what: @autoclosure () -> String)
    {
        do {
            try verifyAnswer(progress)
            let state = [
                system.fingerprint, progress.acknowledged, progress.begun,
                options.compactsInBackground ? 1 : 0,
            ]
            if FaultWorkload.known.withLock({ $0.contains(state) }) { return }
            try verify(system, progress)
            FaultWorkload.known.withLock { _ = $0.insert(state) }
        } catch {
            Issue.record(
                """
                \(what()): \(error); \(progress.acknowledged) changes were acknowledged, \
                \(progress.begun) begun, failure: \(progress.failure.map { "\($0)" } ?? "none")
                """)
        }
    }
}
