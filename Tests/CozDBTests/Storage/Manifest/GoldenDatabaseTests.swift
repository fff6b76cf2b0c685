// A small database as a crash left it, in each version of the formats. Later builds must read it.
// Its files are never made again; a new version gets its own folder.

import CozTestSupport
import Foundation
import Testing

@testable import CozDB

struct GoldenDatabaseTests {
    static let versions = ["v1"]

    static func folder(_ version: String) -> URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Golden/" + version)
    }

    static let names = [
        "MANIFEST", "00000002.seg", "00000003.seg", "00000005.wal", "rejects/00000004.rej",
    ]

    /// The files as a file system that can be opened and damaged.
    func system(_ version: String) throws -> FaultyFileSystem {
        let system = FaultyFileSystem()
        for name in Self.names {
            let data = try Data(contentsOf: Self.folder(version).appendingPathComponent(name))
            system.add("db/" + name, Array(data))
        }
        return system
    }

    /// The first batches of the fault workload: two flushed, two in the log.
    func write() throws -> FaultyFileSystem {
        let system = FaultyFileSystem()
        let database = try FaultWorkload().open(system)
        for number in 1...2 { _ = try database.write(FaultWorkload.batch(number)) }
        try database.flush()
        for number in 3...4 { _ = try database.write(FaultWorkload.batch(number)) }
        return system.survivor(.nothing)
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["COZDB_GOLDEN"] != nil))
    func `makes the files of a new version`() throws {
        let system = try write()
        for path in system.files where !path.hasSuffix("LOCK") {
            var bytes = system[path]
            // The log's reserved space is of no interest.
            if path.hasSuffix(".wal") {
                while bytes.last == 0 { bytes.removeLast() }
                while bytes.count % 8 != 0 { bytes.append(0) }
            }
            let newest = try #require(Self.versions.last)
            let target = Self.folder(newest).appendingPathComponent(String(path.dropFirst(3)))
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(bytes).write(to: target)
        }
    }

    /// The reasons as the golden files have them, whatever later builds say.
    private static let reasons: Set<String> = [
        "string for a field that is locked as integer",
        "missing identity tag \"id_participant\": name another one with --participant-tag TAG, "
            + "give one for all lines with --participant ID, or keep every tag set apart with "
            + "--identity all",
    ]

    @Test(arguments: versions)
    func `files of every version read as they were written`(version: String) throws {
        let system = try system(version)
        let readOnly = try FaultWorkload().open(system, .readOnly)
        let contents = try Contents(readOnly)
        #expect(contents.withoutReasons == (try FaultTests.prefixes.get()[4].withoutReasons))
        #expect(Set(contents.refusals.map(\.reason)) == Self.reasons)
        func value(_ experiment: String, _ participant: String, _ time: Int64, _ column: String)
            -> FieldValue?
        {
            let cell = Contents.Cell(
                experiment: experiment, series: ["id_participant", participant], time: time,
                column: column)
            return contents.cells[cell]
        }
        #expect(value("dev", "p0", 10, "number") == .integer(1))
        #expect(value("dev", "p1", 21, "heart") == .float(0.5))
        #expect(value("dev", "p1", 31, "new 0") == .string("text 3 1"))
        #expect(value("öther", "p0", 40, "device") == .string("d0"))
        #expect(value("dev", "p1", 7, "heart") == .float(1))
        #expect(value("dev", "p1", 7, "number") == nil)
        #expect(contents.cells.count == 12 * 4 + 1)
        #expect(contents.refusals.count == 4)
        let database = try FaultWorkload().open(system)
        #expect(try Contents(database) == contents)
        _ = try database.write(FaultWorkload.batch(5))
        try database.compact()
        try database.close()
        let next = try FaultWorkload().open(system)
        let expected = try FaultTests.prefixes.get()[5].withoutReasons
        #expect(try Contents(next).withoutReasons == expected)
        try next.close()
    }

    @Test(arguments: versions)
    func `every flipped byte of every file is an error or harmless`(version: String) throws {
        let good = try FaultTests.prefixes.get()[4].withoutReasons
        let torn = try FaultTests.prefixes.get()[3].withoutReasons
        let system = try system(version)
        for name in Self.names {
            let path = "db/" + name
            let whole = system[path]
            for offset in whole.indices {
                system[path][offset] ^= UInt8(1 << (offset % 8))
                do {
                    let contents = try Contents(FaultWorkload().open(system, .readOnly))
                        .withoutReasons
                    // The last, unsealed commit cannot be told from a torn one.
                    let isTorn = name.hasSuffix(".wal") && contents == torn
                    #expect(contents == good || isTorn, "\(name), offset \(offset)")
                } catch let error as DatabaseError {
                    #expect(error.file == path, "\(name), offset \(offset): \(error)")
                }
                system[path] = whole
            }
        }
    }
}

extension Contents {
    /// The contents without the reasons of refusals, which later versions word differently.
    fileprivate var withoutReasons: Contents {
        var contents = self
        contents.refusals = Set(
            refusals.map { refusal in
                var refusal = refusal
                refusal.reason = ""
                return refusal
            })
        return contents
    }
}
