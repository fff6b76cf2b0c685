// What the rejects journal takes: equal lines are one entry, and there is a most.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

struct JournalLimitTests {
    private static func open(
        _ system: FaultyFileSystem, sizeBytesMax: Int = 128 << 20
    ) throws -> Database {
        var options = DatabaseOptions()
        options.rejectsSizeBytesMax = sizeBytesMax
        return try Database.open("/db", access: .readWrite, options: options, on: system)
    }

    /// A batch with refused lines of a file, the first at that line.
    private static func batch(
        _ texts: [String], from line: Int = 1, source: String = "file", reason: String = "bad"
    ) -> WriteBatch {
        var batch = WriteBatch()
        for (index, text) in texts.enumerated() {
            batch.refuse(
                Refusal(
                    subject: .line(Array(text.utf8)), reason: reason, source: source,
                    line: line + index))
        }
        return batch
    }

    private static func entries(_ database: Database) throws -> [String] {
        var entries: [String] = []
        try database.rejects { entry in
            guard case .line(let bytes) = entry.refusal.subject else { return true }
            entries.append(
                "\(String(decoding: bytes, as: UTF8.self)) \(entry.refusal.line) \(entry.count) "
                    + "\(entry.lastLine)")
            return true
        }
        return entries
    }

    @Test func `equal lines of a source are one entry, across commits and openings`() throws {
        let system = FaultyFileSystem()
        var database = try Self.open(system)
        let first = try database.write(Self.batch(["x", "y", "x", "x"]))
        #expect(first.refusedPoints == 4)
        #expect(first.unkeptRefusals == 0)
        _ = try database.write(Self.batch(["x", "z"], from: 5))
        let expected = ["x 1 4 5", "y 2 1 2", "z 6 1 6"]
        #expect(try Self.entries(database) == expected)
        try database.flush()
        _ = try database.write(Self.batch(["x", "x"], from: 7))
        try database.close()
        database = try Self.open(system)
        #expect(try Self.entries(database) == ["x 1 6 8", "y 2 1 2", "z 6 1 6"])
        #expect(try database.info().rejects == 8)
        // Another source, and another reason.
        _ = try database.write(Self.batch(["x"], source: "other"))
        _ = try database.write(Self.batch(["x"], reason: "worse"))
        #expect(try Self.entries(database).count == 5)
        try database.close()
    }

    @Test func `a file that is imported again adds nothing, in whatever batches`() throws {
        let system = FaultyFileSystem()
        let database = try Self.open(system)
        let texts = ["x", "y", "x", "x", "z", "x", "y"]
        _ = try database.write(Self.batch(texts))
        try database.flush()
        let before = try Self.entries(database)
        let size = try database.info().rejectBytes
        _ = try database.write(Self.batch(texts))
        for (index, text) in texts.enumerated() {
            _ = try database.write(Self.batch([text], from: index + 1))
        }
        try database.flush()
        #expect(try Self.entries(database) == before)
        #expect(try database.info().rejectBytes == size)
        try database.close()
    }

    @Test func `equal lines take the same space, however many`() throws {
        var sizes: [Int] = []
        for count in [1000, 2000, 4000] {
            let database = try Self.open(FaultyFileSystem())
            for start in stride(from: 1, to: count, by: 100) {
                _ = try database.write(
                    Self.batch(Array(repeating: "x", count: 100), from: start))
            }
            try database.flush()
            #expect(try Self.entries(database) == ["x 1 \(count) \(count)"])
            sizes.append(try database.info().rejectBytes)
            try database.close()
        }
        #expect(sizes[2] - sizes[0] <= 4, "\(sizes)")
    }

    @Test func `files of many sessions are merged as segments are`() throws {
        let system = FaultyFileSystem()
        func files() -> Int { system.files.count { $0.hasPrefix("db/rejects/") } }
        var most = 0
        for number in 1...100 {
            let database = try Self.open(system)
            _ = try database.write(Self.batch(["same", "line \(number)"], from: 2 * number))
            try database.close()
            most = max(most, files())
        }
        #expect(most <= 10)
        let database = try Self.open(system)
        let expected = try Self.entries(database)
        #expect(expected.count == 101)
        #expect(expected[0] == "same 2 100 200")
        _ = try database.write(Self.batch(["same"], from: 202))
        try database.compact()
        #expect(try Self.entries(database) == ["same 2 101 202"] + expected.dropFirst())
        try database.close()
        #expect(files() == 1)
    }

    @Test func `a full journal counts what it does not keep, until it is cleared`() throws {
        let system = FaultyFileSystem()
        var database = try Self.open(system, sizeBytesMax: 2000)
        var unkept = 0
        for number in 0..<100 {
            unkept += try database.write(Self.batch(["bad line \(number)"])).unkeptRefusals
        }
        let kept = try Self.entries(database).count
        #expect(kept + unkept == 100)
        #expect(kept > 5 && kept < 90, "\(kept)")
        #expect(try database.info().unkeptRejects == unkept)
        try database.close()
        database = try Self.open(system, sizeBytesMax: 2000)
        let info = try database.info()
        #expect(info.unkeptRejects == unkept && info.rejects == kept)
        #expect(info.rejectBytes < 4000, "\(info.rejectBytes)")
        // What is about an experiment goes without the count, which is of all of them.
        try database.clearRejects(of: "none")
        #expect(try database.info().unkeptRejects == unkept)
        try database.clearRejects()
        #expect(try database.info().unkeptRejects == 0)
        #expect(try database.write(Self.batch(["bad line 99"])).unkeptRefusals == 0)
        #expect(try Self.entries(database) == ["bad line 99 1 1 1"])
        try database.close()
    }

    @Test func `refused values are kept, each of them`() throws {
        let database = try Self.open(FaultyFileSystem())
        for value in [FieldValue.float(1), .string("n/a")] {
            var batch = WriteBatch()
            for number in 0..<50 {
                try batch.add(
                    experiment: "m", tags: ["id_participant": "p\(number % 3)"],
                    time: Timestamp(nanoseconds: Int64(number)), fields: ["f": value])
            }
            let refused = try database.write(batch).refusedValues
            #expect(refused == (value == .string("n/a") ? 50 : 0))
        }
        #expect(try database.info().rejects == 50)
        try database.close()
    }
}
