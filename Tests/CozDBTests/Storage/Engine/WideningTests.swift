// Fields whose type was widened: what their values look like afterwards.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

struct WideningTests {
    private var options: DatabaseOptions {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        return options
    }

    private func point(_ fields: [String: FieldValue], time: Int64) throws -> WriteBatch {
        var batch = WriteBatch()
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p"],
            time: Timestamp(nanoseconds: time), fields: fields)
        return batch
    }

    @Test(arguments: [false, true])
    func `a field widened twice has the same texts whenever it was merged`(merges: Bool) throws {
        let database = try Database.open(
            "db", access: .readWrite, options: options, on: FaultyFileSystem())
        let integers: [Int64] = [0, 3, -7, 1 << 53, -(1 << 53)]
        for (time, value) in integers.enumerated() {
            _ = try database.write(point(["x": .integer(value)], time: Int64(time)))
            try database.flush()
        }
        try database.alter(experiment: "dev", field: "x", type: .float)
        if merges { try database.compact() }
        _ = try database.write(point(["x": .float(2.5)], time: 10))
        _ = try database.write(point(["x": .float(-0.0)], time: 11))
        _ = try database.write(point(["x": .float(1e300)], time: 12))
        try database.alter(experiment: "dev", field: "x", type: .string)
        let texts = integers.map { "\($0)" } + ["2.5", "-0.0", "1e+300"]
        #expect(try database.query("SELECT x FROM dev").series[0].columns[1].texts == texts)
        try database.compact()
        #expect(try database.query("SELECT x FROM dev").series[0].columns[1].texts == texts)
        try database.close()
    }
}
