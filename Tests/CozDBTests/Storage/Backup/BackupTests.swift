// Backups and restores where nothing fails: what they hold, reuse, remove, refuse.

import CozTestSupport
import Glibc
import Testing

@testable import CozDB

struct BackupTests {
    @Test func `a backup holds the commits of segments and logs and is a database to read`() throws
    {
        let system = try BackupSample.killedWriter()
        let before = system.files.map { system[$0] }
        let report = try BackupSample.backup(system)
        #expect(system.files.filter { $0.hasPrefix("db/") }.map { system[$0] } == before)
        #expect(!report.isIncremental)
        #expect(report.lastCommit == 3)
        #expect(report.copiedFiles == 5, "manifest, log, two segments, rejects: \(report)")
        #expect(report.reusedFiles == 0)
        let expected = try BackupSample.contents("db", system)
        #expect(try BackupSample.contents("backup", system) == expected)
        #expect(try BackupSample.damage("backup", system) == [])
        let manifest = try Manifest(decoding: system["backup/MANIFEST"])
        #expect(manifest.logs.allSatisfy { $0.sealedSizeBytes != nil })
        try BackupSample.restore(system)
        #expect(try BackupSample.damage("restored", system) == [])
        #expect(try BackupSample.contents("restored", system) == expected)
    }

    @Test func `a restored database can be written to, and backed up to where it came from`() throws
    {
        let system = try BackupSample.killedWriter()
        try BackupSample.backup(system)
        try BackupSample.restore(system)
        let database = try BackupSample.open("restored", on: system)
        _ = try database.write(FaultWorkload.batch(5))
        try database.compact()
        let expected = try Contents(database)
        let report = try database.backup(to: "backup", options: BackupOptions(), on: system)
        #expect(report.isIncremental)
        #expect(try BackupSample.contents("backup", system) == expected)
        try database.close()
        #expect(throws: DatabaseError.self) {
            try database.backup(to: "backup", options: BackupOptions(), on: system)
        }
    }

    @Test func `the next backup copies what is new and takes away what is gone`() throws {
        var system = try BackupSample.killedWriter()
        try BackupSample.backup(system)
        let again = try BackupSample.backup(system)
        #expect(again.isIncremental)
        #expect(again.copiedFiles == 1, "the manifest: \(again)")
        #expect(again.reusedFiles == 4)
        let old = Set(system.files)
        system = try BackupSample.goOn(system)
        let next = try BackupSample.backup(system)
        #expect(next.reusedFiles > 0)
        #expect(next.removedFiles > 0)
        let expected = try BackupSample.contents("db", system)
        #expect(try BackupSample.contents("backup", system) == expected)
        #expect(try BackupSample.damage("backup", system) == [])
        let manifest = try Manifest(decoding: system["backup/MANIFEST"])
        var named = ["backup/MANIFEST", "backup/BACKUP"]
        named += manifest.segments.map { "backup/" + FileName.segment($0.number).text }
        named += manifest.logs.map { "backup/" + FileName.log($0.number).text }
        named += manifest.rejects.map { "backup/rejects/" + FileName.rejects($0.number).text }
        #expect(system.files.filter { $0.hasPrefix("backup/") } == named.sorted())
        #expect(!old.isSubset(of: system.files))
    }

    @Test func `a log that grew takes the place of its shorter copy`() throws {
        let system = FaultyFileSystem()
        let database = try BackupSample.open(on: system)
        for number in 1...6 {
            _ = try database.write(FaultWorkload.batch(number))
            let report = try database.backup(to: "backup", options: BackupOptions(), on: system)
            #expect(report.lastCommit == UInt64(number))
            #expect(try BackupSample.contents("backup", system) == Contents(database))
            #expect(try BackupSample.damage("backup", system) == [])
        }
    }

    @Test func `an unfinished commit of the source is not in the backup`() throws {
        let system = try BackupSample.killedWriter()
        let manifest = try Manifest(decoding: system["db/MANIFEST"])
        let log = "db/" + FileName.log(try #require(manifest.logs.last).number).text
        let expected = try BackupSample.contents("db", system)
        // A frame of which the beginning was written.
        let start = system[log].lastIndex { $0 != 0 }! + 1
        let place = (start + 7) / 8 * 8
        system[log][place] = 77
        try BackupSample.backup(system)
        #expect(try BackupSample.contents("backup", system) == expected)
        #expect(try BackupSample.damage("backup", system) == [])
    }

    @Test func `nobody writes to a backup`() throws {
        let system = try BackupSample.killedWriter()
        try BackupSample.backup(system)
        let before = system.files.map { system[$0] }
        let error = #expect(throws: DatabaseError.self) {
            _ = try BackupSample.open("backup", on: system)
        }
        #expect(error?.kind == .notFound)
        #expect(error?.remedy == .restore)
        #expect(system.files.map { system[$0] } == before)
    }

    @Test func `an unfinished copy is refused by name and finished by the next`() throws {
        let system = try BackupSample.killedWriter()
        try BackupSample.backup(system)
        try BackupSample.restore(system)
        let expected = try BackupSample.contents("db", system)
        for (path, remedy) in [("backup", Remedy.backup), ("restored", .restore)] {
            system.add("\(path)/INCOMPLETE", [])
            for access in [DatabaseAccess.readOnly, .readWrite] {
                let error = #expect(throws: DatabaseError.self) {
                    _ = try BackupSample.open(path, access, on: system)
                }
                #expect(error?.kind == .notFound)
                #expect(error?.remedy == remedy)
            }
            #expect(throws: DatabaseError.self) { try BackupSample.damage(path, system) }
        }
        #expect(throws: DatabaseError.self) { try BackupSample.restore(system) }
        try BackupSample.backup(system)
        let report = try BackupSample.restore(system)
        #expect(report.reusedFiles == 3, "all but the log: \(report)")
        for path in ["backup", "restored"] {
            #expect(try BackupSample.contents(path, system) == expected)
        }
    }

    @Test func `targets that hold something else are refused and stay as they are`() throws {
        let system = try BackupSample.killedWriter()
        try BackupSample.backup(system)
        let other = try BackupSample.open("other", on: system)
        _ = try other.write(FaultWorkload.batch(1))
        try other.close()
        system.add("files/notes.txt", [1])
        let before = system.files
        for target in ["db", "other", "files"] {
            #expect(throws: DatabaseError.self) {
                try Database.backup("db", to: target, options: BackupOptions(), on: system)
            }
            #expect(throws: DatabaseError.self) {
                try Database.restore("backup", to: target, options: RestoreOptions(), on: system)
            }
        }
        // A backup of another database, and a restore over a backup.
        #expect(throws: DatabaseError.self) {
            try Database.backup("other", to: "backup", options: BackupOptions(), on: system)
        }
        #expect(throws: DatabaseError.self) {
            try Database.restore("db", to: "backup", options: RestoreOptions(), on: system)
        }
        #expect(throws: DatabaseError.self) {
            try Database.backup("nothing", to: "new", options: BackupOptions(), on: system)
        }
        #expect(system.files == before)
    }

    @Test func `a backup that another one writes, or that lost its manifest, stays as it is`()
        throws
    {
        let system = try BackupSample.killedWriter()
        try BackupSample.backup(system)
        func refused() throws -> DatabaseError? {
            let files = system.files
            defer { #expect(system.files == files) }
            return #expect(throws: DatabaseError.self) { try BackupSample.backup(system) }
        }
        let directory = try system.openDirectory("backup", create: false, access: .ownerOnly)
        let lock = try #require(try directory.lock(FileName.backupMark.text))
        let other = try refused()
        #expect(other?.kind == .locked)
        #expect(other?.message.contains("another backup or restore is writing") == true)
        withExtendedLifetime(lock) {}
        let left = system.survivor(.nothing)
        left.erase("backup/MANIFEST")
        let lost = #expect(throws: DatabaseError.self) { try BackupSample.backup(left) }
        #expect(lost?.kind == .damaged)
        #expect(lost?.message.contains("found a backup without a file MANIFEST") == true)
    }

    @Test func `a backup of the state that a restored database left behind is kept`() throws {
        var system = try BackupSample.killedWriter()
        try BackupSample.backup(system)
        try BackupSample.restore(system)
        system = try BackupSample.goOn(system)
        try BackupSample.backup(system)
        let kept = try BackupSample.contents("backup", system)
        // The restored one has its own life from the first backup on.
        let restored = try BackupSample.open("restored", on: system)
        for number in 7...9 {
            _ = try restored.write(FaultWorkload.batch(number))
            try restored.flush()
            let error = #expect(throws: DatabaseError.self) {
                try restored.backup(to: "backup", options: BackupOptions(), on: system)
            }
            #expect(error?.kind == .notFound)
        }
        #expect(try BackupSample.contents("backup", system) == kept)
        #expect(try BackupSample.damage("backup", system) == [])
    }

    @Test(arguments: [false, true])
    func `a later backup is kept however far the restored database goes`(
        isFlushed: Bool
    ) throws {
        let system = FaultyFileSystem()
        let database = try BackupSample.open(on: system)
        _ = try database.write(FaultWorkload.batch(1))
        try BackupSample.backup(system)
        try BackupSample.restore(system)
        // In the same log, of the same generation, or in segments of later ones.
        for number in 2...4 {
            _ = try database.write(FaultWorkload.batch(number))
            if isFlushed { try database.flush() }
        }
        _ = try database.write(FaultWorkload.batch(5))
        try BackupSample.backup(system)
        try database.close()
        let kept = try BackupSample.contents("backup", system)
        for number in 6...15 {
            let restored = try BackupSample.open("restored", on: system)
            _ = try restored.write(FaultWorkload.batch(number))
            if number % 2 == 0 { try restored.compact() }
            let error = #expect(throws: DatabaseError.self) {
                try restored.backup(to: "backup", options: BackupOptions(), on: system)
            }
            #expect(error?.kind == .notFound, "\(number)")
            try restored.close()
        }
        #expect(try BackupSample.contents("backup", system) == kept)
        // A backup of its own, and one of that where the first one was taken over.
        let options = BackupOptions()
        let restored = try BackupSample.open("restored", on: system)
        try restored.backup(to: "own", options: options, on: system)
        _ = try restored.write(FaultWorkload.batch(16))
        try restored.backup(to: "own", options: options, on: system)
        try restored.close()
        // Nor does the first database take over what the restored one wrote.
        let first = try BackupSample.open(on: system)
        #expect(throws: DatabaseError.self) {
            try first.backup(to: "own", options: options, on: system)
        }
        try first.close()
    }

    @Test func `damage of the source is named and the earlier backup stays`() throws {
        var system = try BackupSample.killedWriter()
        try BackupSample.backup(system)
        let kept = try BackupSample.contents("backup", system)
        system = try BackupSample.goOn(system)
        let named = try Manifest(decoding: system["db/MANIFEST"])
        let old = try Manifest(decoding: system["backup/MANIFEST"])
        let new = named.segments.filter { !old.segments.contains($0) }
        #expect(!new.isEmpty)
        for info in new {
            let path = "db/" + FileName.segment(info.number).text
            let good = system[path]
            for place in stride(from: 16, to: good.count, by: 37) {
                system[path][place] ^= 0x10
                let error = #expect(throws: DatabaseError.self, "offset \(place)") {
                    try BackupSample.backup(system)
                }
                #expect(error?.kind == .damaged, "offset \(place): \(error?.message ?? "")")
                #expect(error?.file == path)
                system[path] = good
            }
            #expect(try BackupSample.contents("backup", system) == kept)
            #expect(try BackupSample.damage("backup", system) == [])
        }
        try BackupSample.backup(system)
        let expected = try BackupSample.contents("db", system)
        #expect(try BackupSample.contents("backup", system) == expected)
    }

    @Test func `damage in the files of a backup is found by --verify and copied again`() throws {
        let system = try BackupSample.killedWriter()
        try BackupSample.backup(system)
        let manifest = try Manifest(decoding: system["backup/MANIFEST"])
        var options = BackupOptions()
        options.verifiesReused = true
        for info in manifest.segments {
            let path = "backup/" + FileName.segment(info.number).text
            system[path][info.sizeBytes / 2] ^= 1
            #expect(try BackupSample.damage("backup", system) != [])
            #expect(throws: DatabaseError.self) { try BackupSample.restore(system) }
            #expect(try BackupSample.backup(system, options).copiedFiles == 2)
            #expect(try BackupSample.damage("backup", system) == [])
        }
        for path in system.files where path.hasPrefix("backup/0") || path.contains("p/rejects") {
            system.erase(path)
            try BackupSample.backup(system)
            #expect(try BackupSample.damage("backup", system) == [])
        }
        try BackupSample.restore(system)
    }

    @Test func `a call that is cancelled leaves a copy to go on with`() throws {
        let system = try BackupSample.killedWriter()
        var options = BackupOptions()
        options.isCancelled = { true }
        let error = #expect(throws: DatabaseError.self) {
            try BackupSample.backup(system, options)
        }
        #expect(error?.kind == .cancelled)
        #expect(throws: DatabaseError.self) { try BackupSample.contents("backup", system) }
        try BackupSample.backup(system)
        let expected = try BackupSample.contents("db", system)
        #expect(try BackupSample.contents("backup", system) == expected)
    }
}
