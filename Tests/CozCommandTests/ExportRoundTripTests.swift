// Random databases with hostile names and values: exported, imported elsewhere, and the same.

internal import CozDB
internal import CozTestSupport
internal import Foundation
internal import Testing

/// A database of random points, as a program may write them.
private struct RandomStudy {
    static let names = [
        "a", "b c", "x,y", "d=e", "q\"uote", "it's", "ü😀", "\u{202E}RTL", "in\\side", "#hash",
        "a\tb", "\tlead", "\u{0}nul", " blank",
        "time2", "_", "1", "a\rb", "e\u{301}", "é", "x_1", "measurement", "fields", "index",
    ]
    /// What line protocol has no way to write.
    static let hardNames = ["row\nbreak", "back\\", "both\n\\"]
    static let texts = [
        "", "None", "00", "true", "1e5", "a,b", "say \"hi\"", "back\\", "\\", "line\nbreak",
        "cr\rx",
        "crlf\r\n", "\u{202E}abc", "😀", "nul\u{0}x", " lead", "trail ", "\t", "#c", "-", "NaN",
        "\"",
        "\"\"", "{\"a\":1}", String(repeating: "ä\",\n", count: 13_000),
    ]
    static let numbers: [Double] = [
        0, -0.0, 0.1, 74, 1e300, .leastNonzeroMagnitude, 1e21, -1.5, 123_456_789_012_345_680, 1e-7,
    ]
    static let integers: [Int64] = [0, -1, .max, .min, 9_007_199_254_740_993]

    var random: SeededRandom
    let names: [String]
    let settings: ExperimentSettings

    init(seed: UInt64, hasHardNames: Bool) {
        random = SeededRandom(seed: seed)
        names = hasHardNames ? Self.names + Self.hardNames : Self.names
        let identities: [Identity] = [
            .participant(tag: "id_participant"), .allTags, .tags(["id_participant", "z"]),
        ]
        settings = ExperimentSettings(
            identity: identities[Int(seed % 3)], typeRule: seed % 2 == 0 ? .strict : .lossless)
    }

    mutating func write(to path: String) throws {
        let database = try Database.open(path)
        var batch = WriteBatch()
        batch.settings = settings
        var types: [String: FieldType] = [:]
        for _ in 0..<60 {
            let experiment = pick(["dev"] + names.prefix(6))
            var tags = ["id_participant": pick(names), "z": pick(["1", "2"])]
            for _ in 0..<Int.random(in: 0...3, using: &random) { tags[pick(names)] = pick(names) }
            var fields: [String: FieldValue] = [:]
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                let name = pick(names)
                let key = experiment + "\u{0}" + name
                let type = types[key] ?? pick(FieldType.allCases)
                types[key] = type
                fields[name] = value(type)
            }
            let time = Int64.random(in: -5...20, using: &random) * 1_000_000_007
            try batch.add(
                experiment: experiment, tags: tags, time: Timestamp(nanoseconds: time),
                fields: fields)
        }
        _ = try database.write(batch)
        try database.close()
    }

    private mutating func value(_ type: FieldType) -> FieldValue {
        switch type {
        case .float: .float(pick(Self.numbers))
        case .integer: .integer(pick(Self.integers))
        case .boolean: .boolean(Bool.random(using: &random))
        case .string: .string(pick(Self.texts))
        }
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }

    /// As `cozdb import` takes them.
    var importOptions: [String] {
        var options = ["--types", settings.typeRule == .strict ? "strict" : "lossless"]
        switch settings.identity {
        case .allTags: options += ["--identity", "all"]
        case .tags(let names): options += ["--identity", names.joined(separator: ",")]
        default: break
        }
        return options
    }
}

struct ExportRoundTripTests {
    /// Everything a database says of its experiments and rows, to the bit.
    private func contents(_ path: String) throws -> [String] {
        let database = try Database.open(path, access: .readOnly)
        func quoted(_ name: String) -> String {
            "\""
                + name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
                .replacing("\n", with: "\\n") + "\""
        }
        var lines: [String] = []
        for schema in try database.schemas() {
            lines.append("experiment \(schema.name.debugDescription) \(schema.identity)")
            lines += schema.fields.map { "field \($0.name.debugDescription) \($0.type)" }
            lines += schema.attributes.map { "attribute \($0.name.debugDescription)" }
            let answer = try database.query("SELECT * FROM \(quoted(schema.name))")
            for series in answer.series {
                for row in 0..<series.rowCount {
                    let cells = zip(series.header.columns, series.columns).map { header, column in
                        let bits =
                            column.type == .float && !column.isNull(row)
                            ? " \(column.bits(row))" : ""
                        let text = column.value(row).map { "\($0)" } ?? "null"
                        return "\(header.name.debugDescription)=\(text.debugDescription)\(bits)"
                    }
                    lines.append(cells.joined(separator: " "))
                }
            }
        }
        return lines
    }

    @Test(arguments: ["json", "ndjson", "csv"])
    func `an answer with large floats can be imported again`(format: String) throws {
        let folder = try TemporaryFolder()
        let run = try Command.shell(
            """
            printf 'm,id_participant=p f=%s 1\n' 1234567890123456768 > in.lp
            printf 'm,id_participant=p f=%s %d\n' 1.5 2 -0.0 3 9007199254740994 4 >> in.lp
            printf 'm,id_participant=p f=%s %d\n' 1e25 5 9007199254740992 6 >> in.lp
            cozdb import --db a in.lp
            cozdb query --db a --format \(format) 'SELECT * FROM m' > answer
            cozdb import --db b --experiment m answer
            cozdb query --db a --format csv 'SELECT * FROM m' > before
            cozdb query --db b --format csv 'SELECT * FROM m' > after
            cmp before after && wc -l < after
            """, in: folder.url)
        #expect(run.status == 0 && run.lines.last == "7", "\(run.output) \(run.errors)")
    }

    @Test(arguments: ["lp", "csv", "ndjson"], [1, 2, 3, 4, 5, 6] as [UInt64])
    func `an export makes the same database again`(format: String, seed: UInt64) throws {
        let folder = try TemporaryFolder()
        // Names that line protocol cannot write have a test of their own.
        var study = RandomStudy(seed: seed, hasHardNames: format != "lp")
        try study.write(to: folder.path("a"))
        let file = folder.path("export.\(format)")
        let export = try Command.cozdb(
            ["export", "--db", folder.path("a"), "--format", format, "--output", file])
        #expect(export.status == 0, "seed \(seed): \(export.errors)")
        let run = try Command.cozdb(
            ["import", "--db", folder.path("b"), "--format", format] + study.importOptions + [file])
        #expect(run.status == 0, "seed \(seed): \(run.errors) \(run.output)")
        let (before, after) = (try contents(folder.path("a")), try contents(folder.path("b")))
        #expect(before.count == after.count && before.count > 60, "seed \(seed)")
        for (left, right) in zip(before, after) where !left.utf8.elementsEqual(right.utf8) {
            Issue.record("seed \(seed): \(left.prefix(300)) became \(right.prefix(300))")
            break
        }
    }

    @Test func `what line protocol cannot write is left out and said`() throws {
        let folder = try TemporaryFolder()
        let database = try Database.open(folder.path("a"))
        var batch = WriteBatch()
        func add(_ experiment: String, _ participant: String, _ fields: [String: FieldValue]) throws
        {
            try batch.add(
                experiment: experiment, tags: ["id_participant": participant],
                time: Timestamp(nanoseconds: 1), fields: fields)
        }
        try add("dev", "p", ["v": .float(1), "back\\": .float(1), "w": .float(.nan)])
        try add("dev", "p\\", ["v": .float(2)])
        try add("#c", "p", ["v": .float(2)])
        _ = try database.write(batch)
        try database.close()
        let run = try Command.cozdb(["export", "--db", folder.path("a"), "--format", "lp"])
        #expect(run.status == 7)
        #expect(run.output == "dev,id_participant=p v=1 1\n")
        #expect(run.errors.contains("2 values and 2 rows"), "\(run.errors)")
        let csv = try Command.cozdb(["export", "--db", folder.path("a"), "--format", "csv"])
        #expect(csv.status == 7, "\(csv.errors)")
        #expect(
            csv.errors.contains("cannot represent 1 value, which is left out; "), "\(csv.errors)")
        let query = try Command.cozdb([
            "query", "--db", folder.path("a"), "--format", "lp", "SELECT * FROM /.*/",
        ])
        #expect(query.status == 0 && query.output == "dev,id_participant=p v=1 1\n")
        #expect(query.errors.contains("2 values and 2 rows"), "\(query.errors)")
    }

    @Test func `a first field that begins with a blank comes back under its name`() throws {
        let folder = try TemporaryFolder()
        let database = try Database.open(folder.path("a"))
        var batch = WriteBatch()
        for (time, name) in ["\tv", "\u{0}v", " v"].enumerated() {
            try batch.add(
                experiment: "dev", tags: ["id_participant": "p"],
                time: Timestamp(nanoseconds: Int64(time)), fields: [name: .integer(1)])
        }
        _ = try database.write(batch)
        try database.close()
        let before = try contents(folder.path("a"))
        for command in [["export"], ["query", "SELECT * FROM dev"]] {
            let text = try Command.cozdb(command + ["--db", folder.path("a"), "--format", "lp"])
            #expect(text.status == 0 && text.errors.isEmpty, "\(text.errors)")
            let copy = folder.path("\(command[0]).copy")
            let run = try Command.cozdb(["import", "--db", copy, "-"], input: text.output)
            #expect(run.status == 0, "\(run.errors)")
            #expect(try contents(copy) == before, "\(text.output)")
        }
    }
}
