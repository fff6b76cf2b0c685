// The memory of series with long names.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

struct LongKeyTests {
    @Test(
        "long keys of series count as memory",
        arguments: [
            "SHOW SERIES", "SHOW TAG VALUES WITH KEY = id_participant", "SELECT x FROM m",
            "SELECT count(x) FROM m GROUP BY id_participant",
        ])
    func memory(_ text: String) throws {
        let folder = TemporaryDirectory()
        let database = try Database.open(folder.path)
        var batch = WriteBatch()
        for number in 0..<200 {
            let name = String(repeating: "n", count: 60_000) + "\(number)"
            try batch.add(
                experiment: "m", tags: ["id_participant": name], time: Timestamp(nanoseconds: 1),
                fields: ["x": .integer(1)])
        }
        _ = try database.write(batch)
        var options = QueryOptions()
        options.limits = QueryLimits()
        options.limits?.memorySizeBytesMax = 2_000_000
        let error = #expect(throws: DatabaseError.self) {
            try database.query(text, options: options)
        }
        #expect(error?.kind == .limitExceeded)
        options.limits?.memorySizeBytesMax = 200_000_000
        #expect(try !database.query(text, options: options).series.isEmpty)
    }
}
