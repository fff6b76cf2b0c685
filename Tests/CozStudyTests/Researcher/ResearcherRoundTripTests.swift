// Export, import, export again: what comes out of random data, and of real files.

internal import CozDB
internal import CozImport
internal import CozTestSupport
internal import Foundation
internal import Testing

@testable internal import CozStudy

struct ResearcherRoundTripTests {
    static let texts = [
        "None", "00", "1e5", "a,b", "say \"hi\"", "line\nbreak", "cr\rx", "crlf\r\n", "\r", "\n",
        "\u{202E}RTL \u{5D0}", "😀",
        "👩‍👩‍👧", "nul\u{0}x", " lead", "trail ", "\t", "#c", "e\u{301}", "é",
        "\"",
        "\"\"", ",", "NaN", "", String(repeating: "ä,\"\n", count: 13_000),
    ]
    static let numbers: [Double] = [
        0, -0.0, 1, 74, 0.1, 1e-5, 1e16, 1e300, .leastNonzeroMagnitude, 1_760_495_140_864, -1.5,
        123_456_789.123456789, 0x1p60,
    ]
    static let integers: [Int64] = [0, 1, -100, 3500, 1 << 53, .max, .min]
    static let names = [
        "ts_heart_rate", "q_mood", "x", "x y", "a,b", "q_\"", "né", "né", "row\nbreak",
        "ws_survey_count",
    ]

    /// Rows with some of the fields; numbers of any kind only where the name has no type.
    private static func fill(_ study: ResearcherStudy, _ random: inout SeededRandom) throws {
        let fields = names.shuffled(using: &random).prefix(Int.random(in: 1...6, using: &random))
        let kinds = fields.map { name in
            name == "ts_heart_rate"
                ? 0
                : name == "ws_survey_count"
                    ? 1
                    : name.hasPrefix("q_") ? 3 : Int.random(in: 0...3, using: &random)
        }
        let isFull = Bool.random(using: &random)
        for row in 0..<Int.random(in: 1...12, using: &random) {
            var values: [String: FieldValue] = [:]
            for (name, kind) in zip(fields, kinds) where isFull || Bool.random(using: &random) {
                switch kind {
                case 0: values[name] = .float(numbers.randomElement(using: &random) ?? 0)
                case 1:
                    // A null makes a float of an integer, and 2^63 - 1 would become 2^63, which the
                    // field that counts surveys cannot hold.
                    let some =
                        name == "ws_survey_count" && !isFull ? integers.prefix(5) : integers[...]
                    values[name] = .integer(some.randomElement(using: &random) ?? 0)
                case 2: values[name] = .boolean(Bool.random(using: &random))
                default: values[name] = .string(texts.randomElement(using: &random) ?? "")
                }
            }
            if values.isEmpty { continue }
            try study.write(
                values, at: Int64(row) * 1_234_567_000,
                tags: [
                    "id_participant": ["p", "q,\"\n", "ü"].randomElement(using: &random) ?? "p",
                    "id_password": ["", "pw", " ", "\r"].randomElement(using: &random) ?? "",
                ])
        }
    }

    /// The cells of a file by the name of their column, and by row.
    private static func table(_ text: String) -> [String: [String]] {
        var rows: [[String]] = [[]]
        var cell = "".unicodeScalars
        var isQuoted = false
        var scalars = Array(text.unicodeScalars)[...]
        while let scalar = scalars.popFirst() {
            switch scalar {
            case "\"" where isQuoted && scalars.first == "\"":
                scalars.removeFirst()
                cell.append(scalar)
            case "\"": isQuoted.toggle()
            case "," where !isQuoted, "\n" where !isQuoted:
                rows[rows.count - 1].append(String(cell))
                cell = "".unicodeScalars
                if scalar == "\n" { rows.append([]) }
            default: cell.append(scalar)
            }
        }
        rows.removeLast()
        var table: [String: [String]] = [:]
        for (column, name) in rows[0].enumerated() {
            table[String(name.utf8.map { "\($0)" }.joined(separator: " "))] =
                rows.dropFirst().map { $0[column] }
        }
        return table
    }

    /// Whether two cells are the same text or number.
    private static func isSame(_ left: String, _ right: String) -> Bool {
        if left.utf8.elementsEqual(right.utf8) { return true }
        guard let left = Double(left), let right = Double(right) else { return false }
        return left == right
    }

    @Test(arguments: UInt64(1)...40) func `a second round changes no byte`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let study = try ResearcherStudy()
        try Self.fill(study, &random)
        if try study.database.schemas().isEmpty { return }
        var rounds = [try study.export()]
        for _ in 1...2 {
            let next = try ResearcherStudy()
            let report = try next.import(rounds[rounds.count - 1])
            #expect(report.refusedValues == 0)
            if report.points == 0 { return }
            rounds.append(try next.export())
        }
        #expect(rounds[1].utf8.elementsEqual(rounds[2].utf8), "seed \(seed)")
        let (first, second) = (Self.table(rounds[0]), Self.table(rounds[1]))
        // Rows that have empty texts only are rows of nothing; the others come in order.
        let times = (first["105 110 100 101 120"] ?? []).indices.filter { row in
            first.contains { name, cells in
                !["", "105 110 100 101 120"].contains(name) && !name.hasPrefix("105 100 95")
                    && !cells[row].isEmpty
            }
        }
        for (name, cells) in first where name != "" {
            let kept = times.map { cells[$0] }
            guard let other = second[name] else {
                #expect(!kept.contains { !$0.isEmpty }, "seed \(seed): \(name) is missing")
                continue
            }
            #expect(kept.count == other.count, "seed \(seed)")
            for (left, right) in zip(kept, other) {
                #expect(Self.isSame(left, right), "seed \(seed): \(left) \(right)")
            }
        }
    }

    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Beside the package, or one folder further up.
    private static func shared(_ name: String) -> String? {
        [folder, folder.deletingLastPathComponent()]
            .map { $0.appendingPathComponent("shared/data/cozie_v3/\(name)").path }
            .first { FileManager.default.fileExists(atPath: $0) }
    }

    private static let isThere = shared("Cozie_participant_yanta006.csv") != nil

    /// The first lines of a real file, which are enough in a debug build.
    private static func excerpt(_ name: String, lines: Int) throws -> String {
        let path = try #require(shared(name))
        let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
        return text.split(separator: "\n").prefix(lines + 1).joined(separator: "\n") + "\n"
    }

    @Test(
        .enabled(if: isThere, "no real files beside the package"),
        arguments: ["Cozie_participant_yanta001.csv", "Cozie_participant_yanta006.csv"])
    func `a real file comes back, and a second round changes no byte`(name: String) throws {
        let isWhole = ProcessInfo.processInfo.environment["COZDB_WHOLE_FILES"] != nil
        let text = try Self.excerpt(name, lines: isWhole ? 1_000_000 : 600)
        let (first, second) = (try ResearcherStudy(), try ResearcherStudy())
        #expect(try !first.import(text).hasRefusals)
        let export = try first.export()
        #expect(try !second.import(export).hasRefusals)
        #expect(try second.export() == export)

        let (before, after) = (Self.table(text), Self.table(export))
        #expect(Set(after.keys).isSubset(of: before.keys))
        for (name, cells) in before {
            guard let other = after[name] else {
                #expect(!cells.contains { !$0.isEmpty }, "\(name) is missing")
                continue
            }
            #expect(cells.count == other.count)
            #expect(zip(cells, other).allSatisfy { Self.isSame($0, $1) }, "\(name)")
        }
    }

    @Test(.enabled(if: isThere, "no real files beside the package"))
    func `line protocol and the researcher's file have the same values`() throws {
        let csv = try Self.excerpt("Cozie_participant_yanta006.csv", lines: 600)
        let lines = "\n" + (try Self.excerpt("yanta006_write_points.lp", lines: 600))
        let (left, right) = (try ResearcherStudy(), try ResearcherStudy())
        try left.import(csv)
        try right.import(lines.replacing("\nyanta,", with: "\ndev,")) { $0.format = .lineProtocol }
        let (one, other) = (Self.table(try left.export()), Self.table(try right.export()))
        let times = one["105 110 100 101 120"] ?? []
        let otherTimes = other["105 110 100 101 120"] ?? []
        let places = Dictionary(uniqueKeysWithValues: zip(otherTimes, otherTimes.indices))
        var compared = 0
        for (name, cells) in one where !name.hasPrefix("105 110 100") && name != "" {
            guard let others = other[name] else { continue }
            for (row, cell) in cells.enumerated() {
                guard let place = places[times[row]] else { continue }
                if cell.isEmpty && others[place].isEmpty { continue }
                compared += 1
                if Self.isSame(cell, others[place]) { continue }
                let (a, b) = (Double(cell) ?? .nan, Double(others[place]) ?? .nan)
                // The file's floats were cut to 32 bits.
                #expect(abs(a - b) <= 1e-6 * abs(a), "\(name) at \(times[row])")
            }
        }
        #expect(compared > 3000)
    }
}
