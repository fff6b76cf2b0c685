// Makes inputs for fuzzers to begin with, of what the program itself writes. What of them is worth
// keeping is in the corpus (Fuzz/README.md).

internal import Foundation
internal import Testing

@testable internal import CozDB

@Suite(.enabled(if: ProcessInfo.processInfo.environment["COZDB_FUZZ_SEEDS"] != nil))
struct SeedTests {
    private func save(_ target: FuzzTarget, _ name: String, _ bytes: [UInt8]) throws {
        let path = try #require(ProcessInfo.processInfo.environment["COZDB_FUZZ_SEEDS"])
        let folder = URL(fileURLWithPath: path).appendingPathComponent(target.rawValue)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: folder.appendingPathComponent(name))
    }

    // MARK: Files of a database

    /// Values of many kinds, so that most encodings and forms occur.
    private func batch(_ kind: Int) throws -> WriteBatch {
        var batch = WriteBatch()
        for row in 0..<(kind == 0 ? 5 : 300) {
            let time = 1_699_000_000_000_000_000 + Int64(row * row % 4001) * 1_000_000_000
            let text = Timestamp(nanoseconds: time + 86_400_000_000_000).description
            var fields: [String: FieldValue] = ["v": .float(Double(row % 50) / 10)]
            switch kind {
            case 1:
                fields["noise"] = .float(Double(row).squareRoot())
                fields["mixed"] = .float(row % 3 == 0 ? Double(row).squareRoot() : Double(row) / 4)
                fields["peaks"] = .integer(row % 40 == 0 ? Int64(row) << 40 : 3)
            case 2:
                fields["ts"] = .string(text)
                fields["copy of ts"] = .string(row % 30 == 0 ? "none" : text)
                fields["note"] = .string(String(repeating: "note \(row % 9) ", count: row % 4))
            case 3:
                fields["runs"] = .integer(Int64(row / 40))
                fields["few"] = .integer([7, 1 << 40, -5, 12_345][row * row % 4])
                if row % 3 == 0 { fields["flag"] = .boolean(row % 9 == 0) }
                if row % 6 == 0 { fields["part"] = .float(-0.0) }
            default: fields["i"] = .integer(Int64(row))
            }
            try batch.add(
                experiment: "dev", tags: ["id_participant": "p\(row % (kind == 3 ? 100 : 2))"],
                time: Timestamp(nanoseconds: time), fields: fields)
        }
        return batch
    }

    private func files(_ kind: Int, flushes: Bool) throws -> [String: [UInt8]] {
        let system = MemoryFiles([
            "db/MANIFEST": Manifest(databaseID: Sample.databaseID).encoded()
        ])
        let database = try Sample.open(system, .readWrite)
        _ = try database.write(batch(kind))
        if flushes { try database.flush() }
        return system.files
    }

    private func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        let end = (bytes.lastIndex { $0 != 0 } ?? -1) + 1
        return Array(bytes.prefix((end + 7) / 8 * 8))
    }

    @Test func `segments, logs, refusals and manifests`() throws {
        let number = Sample.manifest.segments[0].number
        var sets = [Sample.files]
        for kind in 0..<5 {
            sets.append(try files(kind, flushes: true))
            sets.append(try files(kind, flushes: false))
        }
        for (index, files) in sets.enumerated() {
            for (path, bytes) in files {
                let name = "\(index)-\(path.filter { $0.isLetter || $0.isNumber })"
                if path.hasSuffix(".seg") {
                    var mending = SegmentMending(bytes, number: number)
                    mending.run(mendsBlocks: true)
                    for choice: UInt8 in [0, 4, 8] {
                        try save(.segment, "\(name)-\(choice)", [choice] + mending.bytes)
                    }
                }
                if path.hasSuffix(".wal") {
                    for choice: UInt8 in [0, 4, 8, 16] {
                        try save(.log, "\(name)-\(choice)", [choice] + trimmed(bytes))
                    }
                }
                if path.hasSuffix(".rej") {
                    try save(.rejects, name, [0] + bytes)
                    try save(.rejects, name + "-4", [4] + bytes)
                }
            }
        }
        let lock = try files(0, flushes: true)["db/LOCK"] ?? []
        for manifest in [Sample.manifest, Manifest(databaseID: Sample.databaseID)] {
            let written = manifest.encoded()
            let plain = try decompressedBytes(
                written.span.extracting(Manifest.headerSizeBytes...), limit: 1 << 20)
            let bytes = Array(written.prefix(Manifest.headerSizeBytes)) + [0] + plain
            for choice: UInt8 in [0, 4, 8] {
                try save(.manifest, "\(manifest.generation)-\(choice)", [choice] + bytes + lock)
            }
        }
    }

    @Test func `the corpus has refusals of all kinds`() throws {
        var writer = ByteWriter()
        writer.append(RejectsFile.magic)
        writer.append(RejectsFile.version)
        writer.append(4 as UInt32)
        let key = SeriesKey(tags: [(name: "id_participant", value: "p1")])
        let values: [FieldValue] = [.float(.nan), .integer(-5), .string("ä"), .boolean(true)]
        for value in values {
            let subject = Refusal.Subject.value(
                experiment: "dev", key: key, time: Timestamp(nanoseconds: 1), field: "i",
                value: value, locked: .integer)
            let refusal = Refusal(
                subject: subject, reason: "another type", source: "a.lp", line: 3, column: 9)
            writer.append(JournalEntry.refusal(refusal))
            writer.append(JournalEntry.mark(id: refusal.journalID, state: .superseded))
        }
        let line = Refusal(
            subject: .line(Array("dev,id_participant=p1 i=".utf8)), reason: "missing value",
            source: "", line: 0, column: 0)
        writer.append(JournalEntry.refusal(line))
        for choice: UInt8 in [0, 4] { try save(.rejects, "all-\(choice)", [choice] + writer.bytes) }
    }

    // MARK: Blocks

    private static let shapes: [@Sendable (Int) -> UInt64] = [
        { _ in 0 }, { UInt64($0) }, { UInt64($0 / 30) },
        { UInt64($0) &* 0x9E37_79B9_7F4A_7C15 }, { $0 % 50 == 49 ? 1 << 50 : UInt64($0 % 4) },
        { [5, 1 << 60, 77, 1 << 33][$0 * $0 % 4] }, { (Double($0 % 70) / 10).bitPattern },
        { ($0 % 9 == 0 ? Double.nan : Double($0) / 4).bitPattern },
        { ($0 % 3 == 0 ? Double($0).squareRoot() : Double($0) / 8).bitPattern },
        { UInt64($0 % 16 / 15) }, { UInt64(bitPattern: -Int64($0) * 1_000_000) },
    ]

    @Test func `the corpus has blocks of every encoding`() throws {
        for (number, shape) in Self.shapes.enumerated() {
            for (index, type) in FieldType.allCases.enumerated() {
                for count in [0, 3, 200, 1024] {
                    let words = (0..<count).map { type == .boolean ? shape($0) & 1 : shape($0) }
                    var writer = ByteWriter()
                    let encoding = BlockEncoder().encode(words.span, type: type, into: &writer)
                    guard writer.count < 3000 else { continue }
                    let head = [UInt8(index), encoding.rawValue, UInt8(count & 0xFF)]
                    try save(
                        .block, "\(number)-\(type)-\(count)",
                        head + [UInt8(count >> 8)] + writer.bytes)
                }
            }
        }
    }

    @Test func `the corpus has blocks of strings and of presence`() throws {
        let texts = (0..<40).map { index in
            index % 2 == 0 ? "text \(index % 7)" : "1950-01-01T00:00:\(index + 10)Z"
        }
        var heap: [UInt8] = []
        let ends = texts.map { text in
            heap += Array(text.utf8)
            return heap.count
        }
        var strings = ByteWriter()
        encodeStrings(heap: heap.span, ends: ends, into: &strings)
        try save(.block, "strings", [2, 13, 40, 0] + strings.bytes)
        for (name, rows) in [
            ("all", Array(0..<100)), ("runs", Array(20..<60)), ("some", [3, 4, 50, 90]),
            ("bits", (0..<100).filter { $0 * $0 % 5 < 2 }),
        ] {
            let places = rows.map { UInt16($0) }
            var encoder = PresenceEncoder()
            var writer = ByteWriter()
            encoder.encode(places.span, rowCount: 100, into: &writer)
            try save(.block, "presence \(name)", [0, 14, 100, 0] + writer.bytes)
            try save(.block, "patched \(name)", [0, 8, 100, 0] + writer.bytes)
        }
        var table = IntegerTable(columnCount: BlockTable.fieldColumnCount)
        for row in 0..<30 { table.append((0..<14).map { UInt64(row * $0) }) }
        var writer = ByteWriter()
        table.encode(with: BlockEncoder(), into: &writer)
        try save(.block, "table", [1, 16, 100, 0] + writer.bytes)
        writer.removeAll()
        writer.append(compressing: Array(repeating: 65, count: 500))
        try save(.block, "compressed", [1, 15, 0, 0] + writer.bytes)
    }
}
