// Deleting from segments with many blocks: what is copied, cut and written anew is what a database
// has that never stored the rest.

import CozTestSupport
import Testing

@testable import CozDB

struct SegmentFilterTests {
    static let rowCount = 70_000

    /// Fields in all rows, in few, in runs; strings that come again, strings that are too many for
    /// a dictionary, and some that only one series has.
    static func fields(_ row: Int) -> [(name: String, value: FieldValue)] {
        var fields: [(String, FieldValue)] = []
        // Both are times, the second repeats the first one with exceptions.
        if row % 6 == 0 { fields.append(("arrived", .string(time(row / 900 * 1000)))) }
        if row % 12 == 0 {
            let isLate = row % 84 == 0
            fields.append(("arrived_too", .string(time(row / 900 * 1000 + (isLate ? 7 : 0)))))
        }
        if row % 11 > 0 { fields.append(("heart", .float(Double(row % 120) / 2))) }
        if row / 500 % 7 == 0 { fields.append(("mood", .string(["ok", "bad", ""][row % 3]))) }
        if row % 5 == 0 { fields.append(("note", .string("note \(row) of \(participant(row))"))) }
        if row % 300 == 0 {
            fields.append(("place", .string("\(participant(row)) \(row % 900)")))
        }
        if row % 97 == 0 { fields.append(("steps", .integer(Int64(row)))) }
        return fields
    }

    private static func time(_ seconds: Int) -> String {
        Timestamp(nanoseconds: Int64(seconds) * 1_000_000_000).description
    }

    /// A large series, many of a few rows, and two of a middling size.
    static func participant(_ row: Int) -> String {
        if row % 3 == 0 { return "a" }
        if row % 3 == 1 { return "p\(row / 3 % 400)" }
        return row / 3 % 2 == 0 ? "x" : "y"
    }

    /// A statement, and which values it takes away.
    struct Case: Sendable {
        var text: String
        var isGone: @Sendable (_ row: Int, _ field: String) -> Bool
    }

    static let rowCases = [
        Case(text: "DELETE FROM dev WHERE id_participant = 'x'") { row, _ in
            participant(row) == "x"
        },
        Case(text: "DELETE FROM dev WHERE id_participant =~ /^p.*7$/") { row, _ in
            participant(row).hasPrefix("p") && participant(row).hasSuffix("7")
        },
        Case(text: "DELETE FROM dev WHERE time >= 20500us AND time < 41ms") { row, _ in
            (20_500..<41_000).contains(row)
        },
        Case(text: "DELETE FROM dev WHERE heart = 7.5") { row, _ in
            row % 120 == 15 && row % 11 > 0
        },
        Case(text: "DELETE FROM dev WHERE steps > 30000 AND id_participant = 'y'") { row, _ in
            row % 97 == 0 && row > 30_000 && participant(row) == "y"
        },
    ]

    static let fieldCases = [
        Case(text: "DELETE mood FROM dev WHERE id_participant = 'a' AND time < 50ms") {
            $1 == "mood" && participant($0) == "a" && $0 < 50_000
        },
        Case(text: "DELETE arrived FROM dev WHERE time < 30ms AND device = 'd0'") {
            $1 == "arrived" && $0 < 30_000 && $0 % 2 == 0
        },
        Case(text: "DELETE heart FROM dev WHERE device = 'd1'") { $1 == "heart" && $0 % 2 == 1 },
        Case(text: "DELETE note, place FROM dev") { ["note", "place"].contains($1) },
    ]

    @Test(arguments: [rowCases, fieldCases])
    func `what is left is what was never meant`(cases: [Case]) throws {
        let directory = TemporaryDirectory()
        var options = DatabaseOptions()
        options.compactsInBackground = false
        let database = try Database.open(directory.path, options: options)
        try Self.write(database)
        var done: [Case] = []
        #expect(try Self.digest(of: database) == Self.digest(without: done))
        for item in cases {
            _ = try database.execute(item.text)
            done.append(item)
            let expected = Self.digest(without: done)
            #expect(try Self.digest(of: database) == expected, "\(item.text)")
            #expect(try database.rowCount() == expected.rows, "\(item.text)")
            var findings: [CheckFinding] = []
            _ = try Database.check(directory.path) { findings.append($0) }
            #expect(findings.isEmpty, "\(item.text): \(findings)")
        }
        try database.compact()
        #expect(try Self.digest(of: database) == Self.digest(without: done), "merged")
        try database.close()
    }

    /// Two segments, the second one with more rows than a chunk of presence has.
    static func write(_ database: Database) throws {
        var row = 0
        for size in [2_000, 34_000, 34_000] {
            var batch = WriteBatch()
            for row in row..<(row + size) where !fields(row).isEmpty {
                try batch.add(
                    experiment: "dev",
                    tags: ["id_participant": participant(row), "device": "d\(row % 2)"],
                    time: Timestamp(nanoseconds: Int64(row) * 1_000),
                    fields: Dictionary(
                        uniqueKeysWithValues: fields(row).map { ($0.name, $0.value) }))
            }
            _ = try database.write(batch)
            if row == 0 { try database.flush() }
            row += size
        }
        try database.flush()
    }

    // MARK: Comparing

    /// All rows in order, as one number.
    struct Digest: Equatable {
        var rows = 0
        var sum: UInt64 = 0xCBF2_9CE4_8422_2325

        mutating func add(_ text: String) {
            for byte in text.utf8 { sum = (sum ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        }
    }

    static func digest(without cases: [Case]) -> Digest {
        var rows: [String: [Int]] = [:]
        for row in 0..<rowCount { rows[participant(row), default: []].append(row) }
        var digest = Digest()
        for (participant, rows) in rows.sorted(by: { $0.key < $1.key }) {
            for row in rows {
                let left = fields(row).filter { field in
                    !cases.contains { $0.isGone(row, field.name) }
                }
                if left.isEmpty { continue }
                digest.rows += 1
                digest.add("\(participant) \(row) d\(row % 2)")
                for field in left { digest.add(field.name + field.value.description) }
            }
        }
        return digest
    }

    static func digest(of database: Database) throws -> Digest {
        var digest = Digest()
        let view = try #require(try database.takeSnapshot().experiment("dev"))
        let columns = view.schema.attributes + view.schema.fields
        for series in try view.series() {
            let participant = series.key.value(of: "id_participant") ?? ""
            var cursor = view.rows(of: series, columns: columns.map(\.id), in: .all)
            var block = ColumnBatch()
            while try cursor.next(into: &block) {
                for row in 0..<block.count {
                    digest.rows += 1
                    digest.add("\(participant) \(block.times[row] / 1_000) ")
                    for (index, column) in block.columns.enumerated() {
                        guard let value = column.value(row) else { continue }
                        let name = columns[index].name
                        digest.add(name == "device" ? value.plainText : name + value.description)
                    }
                }
            }
        }
        return digest
    }
}
