// Databases with several segments, logs and refusals, and the ways in which their files go bad.

import CozTestSupport
import Dispatch
import Testing

@testable import CozDB

/// The database that the tests of damage begin with; each batch has times of its own.
struct SoundDatabase {
    static let path = "db"
    static let batchSpan: Int64 = 1_000_000
    static let segmentCount = 4

    let system: FaultyFileSystem
    let contents: Contents
    /// The files as they were earlier, after an end of writing.
    let earlier: [String: [UInt8]]
    let files: [String: [UInt8]]
    /// Whether its writer closed it.
    let isClosed: Bool
    /// As it was after the second batch, when it was closed.
    let closedManifest: [UInt8]

    static var options: DatabaseOptions {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        options.retireSeconds = 0
        return options
    }

    /// A database that was closed.
    ///
    /// - Parameter rowCount: rows of each segment of the larger experiment, about.
    init(rowCount: Int, seed: UInt64 = 0) throws {
        let system = FaultyFileSystem(seed: seed)
        var earlier: [String: [UInt8]] = [:]
        for number in 0..<SoundDatabase.segmentCount {
            let database = try SoundDatabase.open(system)
            _ = try database.write(SoundDatabase.batch(number, rowCount: rowCount))
            try database.close()
            if number == 1 { earlier = SoundDatabase.bytes(of: system) }
        }
        try self.init(
            system, earlier: earlier, isClosed: true,
            closedManifest: earlier["db/MANIFEST", default: []])
    }

    /// A database whose writer was killed while it wrote a log to segments: of the batches two are
    /// in segments, two in that log, which is complete, and two in the next one.
    ///
    /// - Parameter rowCount: rows of each batch.
    static func killed(rowCount: Int, seed: UInt64 = 0) throws -> SoundDatabase {
        let system = FaultyFileSystem(seed: seed)
        for number in 0..<2 {
            let database = try open(system)
            _ = try database.write(batch(number, rowCount: rowCount))
            try database.close()
        }
        let closedManifest = system["db/MANIFEST"]
        let database = try open(system)
        guard case .writer(let engine) = database.store else {
            throw DatabaseError(.usage, "not open for writing")
        }
        _ = try database.write(batch(2, rowCount: rowCount))
        let earlier = bytes(of: system)
        _ = try database.write(batch(3, rowCount: rowCount))
        // No flush runs meanwhile.
        let killed = try engine.flushQueue.sync {
            try engine.becomeLeader()
            try engine.rotate()
            engine.resignLeader()
            for number in 4..<6 { _ = try database.write(batch(number, rowCount: rowCount)) }
            return system.survivor(.nothing)
        }
        try database.close()
        return try SoundDatabase(
            killed, earlier: earlier, isClosed: false, closedManifest: closedManifest)
    }

    private init(
        _ system: FaultyFileSystem, earlier: [String: [UInt8]], isClosed: Bool,
        closedManifest: [UInt8]
    ) throws {
        self.system = system
        self.earlier = earlier
        self.isClosed = isClosed
        self.closedManifest = closedManifest
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

    static func path(_ name: FileName) -> String {
        if case .rejects = name { return "db/rejects/" + name.text }
        return "db/" + name.text
    }

    func manifest() throws -> Manifest { try Manifest(decoding: system["db/MANIFEST"]) }

    /// Rows of two experiments: many series with few, one with many; fields that repeat others,
    /// texts in a dictionary, texts without one, and values that are refused.
    static func batch(_ number: Int, rowCount: Int) throws -> WriteBatch {
        var batch = WriteBatch()
        batch.source = "file \(number)"
        for row in 0..<rowCount {
            let isLong = row < rowCount * 4 / 5
            let participant = isLong ? "long" : "p\(row % 7)"
            let time = Int64(number) * batchSpan + Int64(row) * 7
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
            time: Timestamp(nanoseconds: Int64(number) * batchSpan),
            fields: ["heart": .string("not a number \(number)")])
        return batch
    }
}

/// One way in which a file goes bad.
struct FileDamage: CustomStringConvertible {
    enum Kind: CaseIterable {
        /// One bit; some bits.
        case flip, flips
        case truncate
        case zero, random
        /// Two files; two ranges of one file.
        case swap, swapRanges
        /// By the same file as it was earlier, by another one, by that of another database.
        case older, copy, foreign
        case remove
        case append
        /// A range stands there twice.
        case repetition
    }

    var kind: Kind
    var path: String
    var description: String

    /// Damages a file by chance; nil where that changed nothing.
    ///
    /// - Parameter foreign: files of a database of the same shape.
    static func make(
        _ random: inout SeededRandom, _ sound: SoundDatabase, foreign: SoundDatabase,
        in system: FaultyFileSystem
    ) -> FileDamage? {
        let paths = system.files
        let path = paths[Int.random(in: paths.indices, using: &random)]
        let kind = Kind.allCases.randomElement(using: &random) ?? .flip
        if kind == .remove {
            system.erase(path)
            return FileDamage(kind: kind, path: path, description: "remove \(path)")
        }
        let suffix = path.split(separator: ".").last ?? ""
        let others = paths.filter { $0 != path && $0.hasSuffix(suffix) }
        let other = (others.isEmpty ? paths : others).randomElement(using: &random) ?? path
        let before = system[path]
        let bytes: [UInt8]
        switch kind {
        case .swap:
            bytes = system[other]
            system[other] = before
        case .copy: bytes = system[other]
        case .older: bytes = sound.earlier[path] ?? before
        case .foreign: bytes = foreign.files[path] ?? before
        default: bytes = changed(before, kind, &random)
        }
        if bytes == before { return nil }
        system[path] = bytes
        let place = zip(bytes, before).enumerated().first { $0.element.0 != $0.element.1 }?.offset
        return FileDamage(
            kind: kind, path: path,
            description: "\(kind) \(path), first difference at \(place ?? before.count)")
    }

    /// The same bytes but for a place inside of them.
    private static func changed(
        _ bytes: [UInt8], _ kind: Kind, _ random: inout SeededRandom
    ) -> [UInt8] {
        var bytes = bytes
        let start = bytes.isEmpty ? 0 : Int.random(in: bytes.indices, using: &random)
        let end = min(bytes.count, start + Int.random(in: 1...5000, using: &random))
        switch kind {
        case .flip: bytes[start] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case .flips:
            for _ in 0..<Int.random(in: 2...8, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
        case .truncate: bytes.removeLast(bytes.count - start)
        case .zero: for index in start..<end { bytes[index] = 0 }
        case .random:
            for index in start..<end { bytes[index] = .random(in: .min ... .max, using: &random) }
        case .swapRanges:
            let size = min(end - start, bytes.count / 2)
            let other = Int.random(in: 0...(bytes.count - size), using: &random)
            guard size > 0, other >= start + size || start >= other + size else { break }
            for index in 0..<size where start + index < bytes.count {
                bytes.swapAt(start + index, other + index)
            }
        case .append:
            let count = Int.random(in: 1...5000, using: &random)
            bytes += (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        case .repetition: bytes.insert(contentsOf: bytes[start..<end], at: end)
        default: break
        }
        return bytes
    }
}

/// What check, queries and repair make of a database in memory.
enum Examination {
    /// What is damaged.
    static func check(_ system: FaultyFileSystem) throws -> [CheckFinding] {
        var findings: [CheckFinding] = []
        let summary = try Database.check(SoundDatabase.path, on: system, decodes: true) {
            findings.append($0)
        }
        let damage = findings.filter { $0.severity == .damage }
        #expect(summary.damaged == damage.count)
        return damage
    }

    static func repair(
        _ system: FaultyFileSystem, isDryRun: Bool = false
    ) throws -> RepairReport {
        try Database.repair(SoundDatabase.path, on: system, isDryRun: isDryRun)
    }

    /// What can be read; nil where reading meets damage.
    static func readable(_ system: FaultyFileSystem) throws -> Contents? {
        do {
            return try Contents(SoundDatabase.open(system, .readOnly))
        } catch let error as DatabaseError {
            #expect(error.kind != .io, "\(error)")
            return nil
        }
    }

    /// Repairs; checks that this is true afterwards, that a second repair finds nothing to do, and
    /// that nothing is there that was not written.
    static func repaired(
        _ system: FaultyFileSystem, _ sound: SoundDatabase, _ what: String = ""
    ) throws -> (contents: Contents, report: RepairReport) {
        let comment = Comment(rawValue: what)
        let before = SoundDatabase.bytes(of: system)
        let dry = try repair(system, isDryRun: true)
        #expect(SoundDatabase.bytes(of: system) == before, comment)
        let report = try repair(system)
        #expect(report.isEmpty == dry.isEmpty, comment)
        let left = try check(system)
        #expect(left.isEmpty, "\(what): \(left)")
        let second = try repair(system)
        #expect(second.isEmpty, "\(what): \(second.lines)")
        let contents = try Contents(SoundDatabase.open(system, .readOnly))
        #expect(wrong(contents, sound) == 0, comment)
        return (contents, report)
    }

    /// Cells that are not what was written.
    static func wrong(_ found: Contents, _ sound: SoundDatabase) -> Int {
        found.cells.count { sound.contents.cells[$0.key] != $0.value }
    }

    /// The batches that lost something.
    static func losers(_ found: Contents, _ sound: SoundDatabase) -> Set<Int64> {
        let lost = sound.contents.cells.keys.filter { found.cells[$0] == nil }
        return Set(lost.map { $0.time / SoundDatabase.batchSpan })
    }
}
