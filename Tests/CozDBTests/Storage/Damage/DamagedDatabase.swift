// A closed database with several segments and refusals, and the ways in which its files go bad.

import CozTestSupport

@testable import CozDB

/// The database that the tests of damage begin with; each segment has times of its own.
struct SoundDatabase {
    static let path = "db"
    static let segmentSpan: Int64 = 1_000_000
    static let segmentCount = 4

    let system: FaultyFileSystem
    let contents: Contents
    /// The files as they were earlier, after an end of writing.
    let earlier: [String: [UInt8]]
    let files: [String: [UInt8]]

    static var options: DatabaseOptions {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        options.retireSeconds = 0
        return options
    }

    init() throws {
        let system = FaultyFileSystem()
        var earlier: [String: [UInt8]] = [:]
        for number in 0..<SoundDatabase.segmentCount {
            let database = try SoundDatabase.open(system)
            try database.write(SoundDatabase.batch(number))
            try database.close()
            if number == 1 { earlier = SoundDatabase.bytes(of: system) }
        }
        self.system = system
        self.earlier = earlier
        files = SoundDatabase.bytes(of: system)
        contents = try Contents(SoundDatabase.open(system, .readOnly))
    }

    static func open(
        _ system: FaultyFileSystem, _ access: DatabaseAccess = .readWrite
    ) throws -> Database {
        try Database.open(path, access: access, options: options, on: system)
    }

    static func bytes(of system: FaultyFileSystem) -> [String: [UInt8]] {
        Dictionary(uniqueKeysWithValues: system.files.map { ($0, system[$0]) })
    }

    /// Rows of two experiments: many series with few, one with many; fields that repeat others,
    /// texts in a dictionary, texts without one, and values that are refused.
    static func batch(_ number: Int) throws -> WriteBatch {
        var batch = WriteBatch()
        batch.source = "file \(number)"
        for row in 0..<1500 {
            let isLong = row < 1200
            let participant = isLong ? "long" : "p\(row % 7)"
            let time = Int64(number) * segmentSpan + Int64(row) * 7
            let text = Timestamp(nanoseconds: time * 1_000_000_000).description
            var fields: [String: FieldValue] = [
                "heart": .float(Double(row % 50) + 0.5), "mood": .string("mood \(row % 5)"),
                "ts_heart": .string(text), "ws_heart": .string(text),
            ]
            if row % 3 == 0 { fields["steps"] = .integer(Int64(row * row % 1000)) }
            if row % 4 == 0 { fields["note"] = .string("note \(number) \(row) \(row * row)") }
            if row % 5 == 0 { fields = ["worn": .boolean(row % 2 == 0)] }
            try batch.add(
                experiment: row % 10 == 9 ? "other" : "dev",
                tags: ["id_participant": participant, "device": "d\(row % 2)"],
                time: Timestamp(nanoseconds: time), fields: fields)
        }
        try batch.add(
            experiment: "dev", tags: ["id_participant": "long"],
            time: Timestamp(nanoseconds: Int64(number) * segmentSpan),
            fields: ["heart": .string("not a number \(number)")])
        return batch
    }
}

/// One way in which a file goes bad.
struct Damage: CustomStringConvertible {
    enum Kind: CaseIterable {
        case flip, truncate, zero, swap, older, append, remove
    }

    var kind: Kind
    var path: String
    var offset = 0
    var description: String

    /// Damages a file by chance; nil where that changed nothing.
    static func make(
        _ random: inout SeededRandom, _ sound: SoundDatabase, in system: FaultyFileSystem
    ) -> Damage? {
        let paths = system.files
        let path = paths[Int.random(in: paths.indices, using: &random)]
        let kind = Kind.allCases.randomElement(using: &random) ?? .flip
        var bytes = system[path]
        let offset = bytes.isEmpty ? 0 : Int.random(in: bytes.indices, using: &random)
        switch kind {
        case .flip: bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case .truncate: bytes.removeLast(bytes.count - offset)
        case .zero:
            let end = min(bytes.count, offset + Int.random(in: 1...5000, using: &random))
            for index in offset..<end { bytes[index] = 0 }
        case .swap:
            let other = paths[Int.random(in: paths.indices, using: &random)]
            bytes = system[other]
            system[other] = system[path]
        case .older: bytes = sound.earlier[path] ?? bytes
        case .append:
            let count = Int.random(in: 1...5000, using: &random)
            bytes += (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        case .remove: break
        }
        if kind == .remove {
            // A database without a lock file looks as one that was copied without it.
            if path.hasSuffix("LOCK") { return nil }
            system.erase(path)
        } else {
            system[path] = bytes
            if bytes == sound.files[path] { return nil }
        }
        return Damage(
            kind: kind, path: path, offset: offset, description: "\(kind) \(path) at \(offset)")
    }
}
