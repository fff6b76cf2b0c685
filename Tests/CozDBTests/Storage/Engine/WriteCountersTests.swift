// What became of values: flushes compare within themselves, merges with what is older.

import CozDB
import CozTestSupport
import Testing

struct WriteCountersTests {
    let directory = TemporaryDirectory()

    private func write(_ values: [Int64: String], to database: Database) throws {
        var batch = WriteBatch()
        for (time, value) in values {
            try batch.add(
                experiment: "dev", tags: ["id_participant": "p"],
                time: Timestamp(nanoseconds: time), fields: ["s": .string(value), "x": .float(1)])
        }
        _ = try database.write(batch)
        try database.flush()
    }

    @Test func `a merge finds the values that met older ones`() throws {
        let database = try Database.open(directory.path)
        try write([1: "a", 2: "b"], to: database)
        try write([2: "b", 3: "c"], to: database)
        try write([2: "other"], to: database)
        try database.compact()
        let counters = try database.counters()
        #expect(counters.insertedValues == 6, "three cells of each field")
        #expect(counters.replacedValues == 1)
        #expect(counters.identicalValues == 3)
        #expect(try database.valueCount() == 6)
        try database.close()
    }

    @Test func `cells are counted once, however many segments have them`() throws {
        let database = try Database.open(directory.path)
        try write([1: "a", 2: "b"], to: database)
        try write([2: "b", 3: "c"], to: database)
        #expect(try database.valueCount() == 6)
        #expect(try database.info().experiments.map(\.values) == [6])
        try database.close()
    }
}
