// Operating a database from tasks.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

struct AsyncOperationsTests {
    private let folder = TemporaryDirectory()
    private let copies = TemporaryDirectory()
    private let database: Database

    init() throws {
        database = try Database.open(folder.path)
    }

    private func point(
        _ participant: String, _ value: FieldValue, field: String = "x"
    ) throws -> WriteBatch {
        var batch = WriteBatch()
        try batch.add(
            experiment: "m", tags: ["id_participant": participant],
            time: Timestamp(nanoseconds: 1), fields: [field: value])
        return batch
    }

    @Test("a task declares, widens, replays, counts, backs up, forgets and readmits")
    func operations() async throws {
        let field = SchemaPreset.Field("y", .integer, unit: "m")
        let report = try await database.declare(experiment: "m", fields: [field])
        #expect(report.conflicts.isEmpty)
        #expect(try await database.schemas().first?.declaration(of: "y")?.unit == "m")
        _ = try await database.write(try point("p", .integer(1)))
        _ = try await database.write(try point("q", .float(1.5)))
        try await database.alter(experiment: "m", field: "x", type: .float)
        let waiting = try await database.rejects()
        #expect(waiting.map(\.state) == [.waiting])
        #expect(try await database.replayRejects().replayed == 1)
        #expect(try await database.rejects(of: "m").map(\.state) == [.done])
        #expect(try await database.rejects(of: "n").isEmpty)
        #expect(try await database.clearRejects() == 1)
        #expect(try await database.info().experiments.map(\.rows) == [2])
        #expect(try await database.schemas().map(\.name) == ["m"])
        let copy = try await database.backup(to: copies.path)
        #expect(copy.copiedFiles > 0)
        let (summary, findings) = try await Database.check(copies.path, decodes: true)
        #expect(summary.damaged == 0 && findings.isEmpty)
        #expect(try await database.forget(["q"]).deletion.rows == 1)
        #expect(try await database.write(try point("q", .float(2))).forgottenPoints == 1)
        #expect(try await database.readmit(["q"]) == ["q"])
        #expect(try await database.write(try point("q", .float(2))).points == 1)
        try await database.close()
        await #expect(throws: DatabaseError.self) { try await database.info() }
    }

    @Test func `entries of the rejects journal come by pages`() async throws {
        let field = "api_write_key"
        _ = try await database.write(try point("p", .integer(1), field: field))
        for number in 1...5 {
            _ = try await database.write(try point("p", .string("key \(number)"), field: field))
        }
        let all = try await database.rejects()
        #expect(all.count == 5)
        for (offset, limit) in [(0, 2), (2, 2), (4, 2), (5, 2), (0, 0), (-1, 9), (1, .max)] {
            let page = try await database.rejects(of: "m", offset: offset, limit: limit)
            #expect(
                page.map(\.refusal) == all.dropFirst(max(0, offset)).prefix(limit).map(\.refusal))
        }
        let masked = try await database.rejects(redactsSecrets: true).map(\.refusal)
        #expect(masked == all.map(\.refusal.redacted) && masked != all.map(\.refusal))
    }

    @Test("a backup, a forget and a page of rejects end with their task")
    func cancellation() async throws {
        _ = try await database.write(try point("p", .integer(1)))
        try await database.flush()
        let (database, target) = (database, copies.path)
        let kinds = await Task { () -> [DatabaseError.Kind] in
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            var kinds: [DatabaseError.Kind] = []
            do throws(DatabaseError) {
                _ = try await database.backup(to: target)
            } catch { kinds.append(error.kind) }
            do throws(DatabaseError) {
                _ = try await database.forget(["p"])
            } catch { kinds.append(error.kind) }
            do throws(DatabaseError) {
                _ = try await database.rejects()
            } catch { kinds.append(error.kind) }
            return kinds
        }.value
        #expect(kinds == [.cancelled, .cancelled, .cancelled])
        #expect(try await database.info().experiments.map(\.rows) == [1])
        #expect(try await database.backup(to: target).copiedFiles > 0)
        #expect(try await database.forget(["p"]).deletion.rows == 1)
    }
}
