// Databases in memory answer as those in directories do.

internal import CozDB
internal import CozTestSupport
internal import Foundation
internal import Testing

struct MemoryDatabaseTests {
    private let folder = TemporaryDirectory()

    /// Writes, flushes, merges and deletes, the same for each database of a seed.
    private func fill(_ database: Database, seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<30 {
            var batch = WriteBatch()
            for _ in 0..<Int.random(in: 1...200, using: &random) {
                let text = String(repeating: "t", count: Int.random(in: 0...300, using: &random))
                let number = Int64.random(in: -5...5, using: &random)
                try batch.add(
                    experiment: "e\(Int.random(in: 0..<3, using: &random))",
                    tags: ["id_participant": "p\(Int.random(in: 0..<4, using: &random))"],
                    time: Timestamp(nanoseconds: Int64.random(in: 0..<1000, using: &random)),
                    fields: [
                        "x": Bool.random(using: &random) ? .integer(number) : .string(text),
                        "y": .string(text),
                    ])
            }
            _ = try database.write(batch)
            switch Int.random(in: 0..<8, using: &random) {
            case 0: try database.flush()
            case 1: try database.compact()
            case 2: try database.execute("DELETE FROM e1 WHERE time < 300 AND y = ''")
            case 3: try database.execute("DROP SERIES WHERE id_participant = 'p3'")
            case 4: _ = try database.forget(["p2"])
            case 5: _ = try database.readmit(["p2"])
            default: break
            }
        }
    }

    private func contents(_ database: Database) throws -> String {
        var refusals: [String] = []
        try database.rejects { entry throws(DatabaseError) in
            refusals.append("\(entry.refusal)")
            return true
        }
        return try "\(database.query("SELECT * FROM /./; SHOW FIELDS; SHOW SERIES"))\n"
            + refusals.sorted().joined(separator: "\n")
    }

    @Test(arguments: 0..<4)
    func `a database in memory holds what one in a directory holds`(seed: Int) throws {
        try FileManager.default.createDirectory(
            atPath: folder.path, withIntermediateDirectories: true)
        let memory = try Database.inMemory()
        let disk = try Database.open(folder.path + "/disk")
        for database in [memory, disk] { try fill(database, seed: UInt64(seed)) }
        let expected = try contents(disk)
        #expect(try contents(memory) == expected)
        try memory.backup(to: folder.path + "/backup")
        try Database.restore(folder.path + "/backup", to: folder.path + "/restored")
        let restored = try Database.open(folder.path + "/restored", access: .readOnly)
        #expect(try contents(restored) == expected, "the backup")
        let snapshot = try memory.snapshot()
        try memory.close()
        try disk.close()
        #expect(try snapshot.rowCount(of: "e0") > 0, "the snapshot outlives the database")
    }

    @Test func `each database in memory is another one`() throws {
        let (first, second) = (try Database.inMemory(), try Database.inMemory())
        try fill(first, seed: 1)
        #expect(try second.schemas().isEmpty)
        try first.close()
        let error = #expect(throws: DatabaseError.self) { try first.flush() }
        #expect(error?.kind == .closed)
    }

    @Test func `the path of other systems for memory is refused with a hint`() throws {
        for access in [DatabaseAccess.readWrite, .readOnly] {
            let error = #expect(throws: DatabaseError.self) {
                try Database.open(":memory:", access: access)
            }
            #expect(error?.kind == .usage)
            #expect(error?.message.contains("Database.inMemory()") == true)
        }
        #expect(!FileManager.default.fileExists(atPath: ":memory:"))
    }

    @Test func `a database in memory is made, whatever the options say of directories`() throws {
        var options = DatabaseOptions()
        options.createsDatabase = false
        let database = try Database.inMemory(options: options)
        #expect(try database.schemas().isEmpty)
    }
}
