// Parameters and the clock of a call, as a service passes them.

internal import CozTestSupport
@testable internal import CozDB
internal import Testing

struct QueryParameterTests {
    private let folder = TemporaryDirectory()
    private let database: Database

    init() throws {
        database = try Database.open(folder.path)
        var batch = WriteBatch()
        for (second, who) in ["a", "b", "a' OR 'x' = 'x"].enumerated() {
            try batch.add(
                experiment: "m", tags: ["id_participant": who],
                time: Timestamp(nanoseconds: Int64(second) * 1_000_000_000),
                fields: ["i": 7, "f": 0.5, "s": "text \(second)", "b": true])
        }
        _ = try database.write(batch)
    }

    private func count(
        _ condition: String, _ parameters: [String: any QueryParameterConvertible]
    ) throws -> Int64? {
        let result = try database.query(
            "SELECT count(i) FROM m WHERE \(condition)", parameters: parameters)
        return result.series.first?.column("count")?.integers.first ?? nil
    }

    @Test("literals are values of their types")
    func literals() throws {
        let fields = try database.schemas()[0].fields.map { "\($0.name) \($0.type)" }
        #expect(fields == ["b boolean", "f float", "i integer", "s string"])
        let row = try database.query("SELECT b, f, i, s FROM m LIMIT 1").series[0]
        #expect(row.columns.dropFirst().map { $0.value(0) } == [true, 0.5, 7, "text 0"])
    }

    @Test("values of Swift's types are bound without being named")
    func values() throws {
        let id = "a"
        #expect(try count("id_participant = $p", ["p": id]) == 1)
        #expect(try count("s = $s", ["s": "text 1 and more".prefix(6)]) == 1)
        #expect(try count("i = $i AND f < $f", ["i": 7, "f": 1.5]) == 3)
        #expect(try count("i = $i AND b = $b", ["i": Int64(7), "b": true]) == 3)
        #expect(try count("s = $v", ["v": FieldValue.string("text 2")]) == 1)
        #expect(try count("time >= $t", ["t": Timestamp(nanoseconds: 1_000_000_000)]) == 2)
        #expect(try count("time >= $t", ["t": Timestamp.min]) == 3)
        #expect(try count("s =~ $r", ["r": QueryParameter.regex("[12]$")]) == 2)
        #expect(try count("time < $d", ["d": QueryParameter.duration("2s")]) == 2)
        #expect(try count("$n = 7", ["n": QueryParameter.identifier("i")]) == 3)
    }

    @Test func `a list is what IN looks in, also an empty one`() throws {
        #expect(try count("id_participant IN $p", ["p": ["a", "b", "c"]]) == 2)
        #expect(try count("id_participant NOT IN $p", ["p": ["a", "b", "c"]]) == 1)
        #expect(try count("id_participant IN $p", ["p": ["a' OR 'x' = 'x"]]) == 1)
        #expect(try count("i IN $p", ["p": [6, 7]]) == 3)
        #expect(try count("i NOT IN $p", ["p": [-7, 7.5]]) == 3)
        #expect(try count("f IN $p", ["p": QueryParameter.list([.float(0.5), "x"])]) == 3)
        #expect(try count("s IN ('text 0', $p)", ["p": ["text 1".prefix(6)]]) == 2)
        let none: [String] = []
        for name in ["id_participant", "i", "f", "s", "b", "i + 1"] {
            #expect(try count("\(name) IN $p", ["p": none]) == nil)
            #expect(try count("\(name) NOT IN $p", ["p": none]) == 3)
        }
        #expect(try count("id_participant NOT IN $p", ["p": [Double.nan, 1]]) == 3)
        for condition in ["i IN $q", "i IN ($q)"] {
            let missing = #expect(throws: DatabaseError.self) { try count(condition, ["p": none]) }
            #expect(missing?.message.contains("missing parameter: q") == true)
        }
        let error = #expect(throws: DatabaseError.self) { try count("s = $p", ["p": ["text 0"]]) }
        #expect(error?.kind == .usage)
        #expect(error?.message.contains("a list follows IN") == true)
    }

    @Test func `a missing tag is in no empty list`() throws {
        var batch = WriteBatch()
        for (second, device) in ["", "", "w"].enumerated() {
            var tags = ["id_participant": "d\(second)"]
            tags["device"] = device.isEmpty ? nil : device
            try batch.add(
                experiment: "m", tags: tags, time: Timestamp(nanoseconds: 5), fields: ["i": 1])
        }
        _ = try database.write(batch)
        for list in [[], ["other"]] as [[String]] {
            #expect(try count("device NOT IN $p AND i = 1", ["p": list]) == 3)
            #expect(try count("device IN $p", ["p": list]) == nil)
        }
    }

    @Test(arguments: ["('a')", "(1)", "$p", "$none"])
    func `a chain of IN costs in proportion`(list: String) throws {
        let chain = String(repeating: " IN \(list)", count: 300)
        let none: [String] = []
        #expect(try count("s" + chain, ["p": ["a", "b"], "none": none]) == nil)
    }

    @Test func `many values that equal nothing cost little`() throws {
        let list = Array(repeating: Double.nan, count: 300_000)
        #expect(try count("i IN $p", ["p": list]) == nil)
        #expect(try count("i NOT IN $p", ["p": list]) == 3)
    }

    @Test func `the values of lists are limited, however often a list is named`() throws {
        var options = QueryOptions()
        options.limits = QueryLimits()
        options.limits?.textSizeBytesMax = 1000
        let text = "SELECT i FROM m WHERE i IN $p AND i IN $p"
        var list = Array(repeating: 7, count: 500)
        #expect(
            try database.query(text, parameters: ["p": list], options: options).series[0].rowCount
                == 3)
        list.append(8)
        let error = #expect(throws: DatabaseError.self) {
            try database.query(text, parameters: ["p": list], options: options)
        }
        #expect(error?.kind == .limitExceeded)
        #expect(error?.message.contains("textSizeBytesMax") == true)
    }

    @Test func `a time cannot be compared with a number that is none`() throws {
        #expect(try count("f >= $f", ["f": Double.nan]) == nil)
        for comparison in ["time >= $f", "$f > time", "time = 1 * $f"] {
            let error = #expect(throws: DatabaseError.self) {
                try count(comparison, ["f": Double.nan])
            }
            #expect(error?.kind == .usage)
            #expect(error?.description.contains("time and NaN are not compatible") == true)
        }
    }

    @Test("no value changes the structure of a statement")
    func injection() throws {
        let id = "a' OR 'x' = 'x"
        #expect(try count("id_participant = $p", ["p": id]) == 1)
        #expect(try count("s = $p", ["p": "x' OR i = 7 --"]) == nil)
    }

    private static let text = "SELECT i FROM m WHERE id_participant = $p AND i = $q"
    /// `p` is that of the call.
    private static var options: QueryOptions {
        var options = QueryOptions()
        options.parameters = ["p": .value("b"), "q": .value(7)]
        return options
    }

    @Test("parameters of a call come before those of its options")
    func precedence() throws {
        let (text, options) = (Self.text, Self.options)
        let snapshot = try database.snapshot()
        var collectors = [QueryResultCollector(), QueryResultCollector()]
        try database.query(text, parameters: ["p": "a"], options: options, into: &collectors[0])
        try snapshot.query(text, parameters: ["p": "a"], options: options, into: &collectors[1])
        let results = [
            try database.query(text, parameters: ["p": "a"], options: options),
            try snapshot.query(text, parameters: ["p": "a"], options: options),
        ]
        for result in results + collectors.map(\.result) {
            #expect(result.series.first?.times == [Timestamp(nanoseconds: 0)])
        }
        for cursor in [
            try snapshot.cursor(text, parameters: ["p": "a"], options: options),
            try database.cursor(text, parameters: ["p": "a"], options: options),
        ] {
            #expect(try cursor.next()?.times == [Timestamp(nanoseconds: 0)])
        }
        let other = try database.query(text, options: options)
        #expect(other.series.first?.times == [Timestamp(nanoseconds: 1_000_000_000)])
    }

    @Test("tasks bind parameters as threads do")
    func fromTask() async throws {
        let (text, options) = (Self.text, Self.options)
        let snapshot = try await database.snapshot()
        for result in [
            try await database.query(text, parameters: ["p": "a"], options: options),
            try await snapshot.query(text, parameters: ["p": "a"], options: options),
        ] {
            #expect(result.series.first?.times == [Timestamp(nanoseconds: 0)])
        }
        let cursor = try await database.cursor(text, parameters: ["p": "a"], options: options)
        let batch = try await cursor.next()
        #expect(batch?.times == [Timestamp(nanoseconds: 0)])
    }

    @Test("options that are used again take the time of each call")
    func clock() async throws {
        let options = QueryOptions()
        let text = "SELECT i FROM n WHERE time <= now() AND time > now() - 1h"
        var batch = WriteBatch()
        let soon = Timestamp(nanoseconds: Timestamp.now.nanoseconds + 200_000_000)
        try batch.add(experiment: "n", tags: ["id_participant": "p"], time: soon, fields: ["i": 1])
        _ = try await database.write(batch)
        let early = try await database.query(text, options: options)
        // The machine may have been slow.
        #expect(early.series.isEmpty || Timestamp.now > soon)
        while Timestamp.now <= soon { try await Task.sleep(for: .milliseconds(20)) }
        let late = try await database.query(text, options: options)
        #expect(!late.series.isEmpty)
    }
}
