// Files that the command makes outside of databases: new ones, which only their owner reads.

internal import Foundation
internal import Glibc
internal import Testing

@testable internal import CozCommand

struct OutputFileTests {
    private let folder: TemporaryFolder
    private let database: String

    init() throws {
        folder = try TemporaryFolder()
        database = folder.path("study.cozdb")
        let run = try Command.cozdb(
            ["import", "--db", database, "-"], input: "dev,id_participant=p v=1 1\n")
        #expect(run.status == 0)
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private func export(_ file: String) throws -> CommandRun {
        try Command.shell(
            "umask 022; timeout 20 cozdb export --db study.cozdb --format lp --output '\(file)'",
            in: folder.url)
    }

    @Test func `what waits in the place of a new file is left alone`() throws {
        // What a stranger may put beside the file: a hard link, a file of their own, a pipe.
        let victim = try folder.write("precious", to: "victim")
        try FileManager.default.linkItem(atPath: victim, toPath: folder.path("a.lp.partial"))
        let foreign = try folder.write("foreign", to: "b.lp.partial")
        // The name ends with a zero byte during the call.
        unsafe mkfifo(folder.path("c.lp.partial"), 0o666)
        for name in ["a.lp", "b.lp", "c.lp"] {
            let run = try export(name)
            #expect(run.status == 0, "\(name) \(run.errors)")
            let path = folder.path(name)
            #expect(
                try String(contentsOfFile: path, encoding: .utf8)
                    == "dev,id_participant=p v=1 1\n")
            #expect(try mode(path) == 0o600)
        }
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
        #expect(try String(contentsOfFile: foreign, encoding: .utf8) == "foreign")
    }

    @Test func `a new file has a name that nobody guesses, and takes the place of none`() throws {
        let path = folder.path("x.lp")
        var digits: [String] = []
        for _ in 0..<64 {
            let (descriptor, name) = FileOpening.make(beside: path)
            #expect(descriptor >= 0)
            // Nobody else may have made it.
            #expect(FileOpening.make(name) == -1 && errno == EEXIST)
            #expect(try mode(name) == 0o600)
            #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
            close(descriptor)
            #expect(name.hasPrefix(path + ".") && name.hasSuffix(".partial"))
            digits.append(String(name.dropFirst(path.count + 1).dropLast(".partial".count)))
        }
        // Each bit of the 64 is set in some name, and missing in another.
        let numbers = digits.compactMap { UInt64($0, radix: 16) }
        #expect(Set(numbers).count == 64, "\(digits)")
        #expect(numbers.reduce(0, |) == .max && numbers.reduce(.max, &) == 0, "\(digits)")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link"), withDestinationPath: folder.path("nothing"))
        #expect(FileOpening.make(folder.path("link")) == -1 && errno == EEXIST)
        #expect(!FileManager.default.fileExists(atPath: folder.path("nothing")))
    }

    @Test func `a file that is there is replaced, not written to`() throws {
        let old = try folder.write("old", to: "x.lp")
        try FileManager.default.linkItem(atPath: old, toPath: folder.path("y.lp"))
        #expect(try export("x.lp").status == 0)
        #expect(try String(contentsOfFile: folder.path("y.lp"), encoding: .utf8) == "old")
        #expect(try mode(old) == 0o600)
    }

    @Test func `a device is written to`() throws {
        #expect(try export("/dev/null").status == 0)
        #expect(try export("/dev/stdout").output.contains("dev,id_participant=p v=1 1"))
    }

    @Test func `a sample's folder and files are those of its owner`() throws {
        let run = try Command.cozdb([
            "sample", "--shape", "beiwe", "--participants", "1", "--days", "1", "--output",
            folder.path("sample"),
        ])
        #expect(run.status == 0, "\(run.errors)")
        let walk = FileManager.default.enumerator(atPath: folder.path("sample"))
        var count = 0
        for case let name as String in try #require(walk) {
            let path = folder.path("sample/" + name)
            var isFolder: ObjCBool = false
            _ = unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            #expect(try mode(path) == (isFolder.boolValue ? 0o700 : 0o600), "\(name)")
            count += 1
        }
        #expect(count > 3)
    }

    @Test func `a system call that signals interrupt is repeated`() {
        var results: [(result: Int32, code: Int32)] = [(-1, EINTR), (-1, EINTR), (7, 0)]
        let descriptor = FileOpening.repeatingInterrupted {
            let next = results.removeFirst()
            errno = next.code
            return next.result
        }
        #expect(descriptor == 7 && results.isEmpty)
        var count = 0
        let failed = FileOpening.repeatingInterrupted {
            count += 1
            errno = EEXIST
            return -1
        }
        #expect(failed == -1 && count == 1)
    }
}
