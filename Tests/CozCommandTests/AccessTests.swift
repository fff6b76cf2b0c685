// Who may read and write a database: modes of files, other users, read-only file systems.

internal import Foundation
internal import Testing

struct AccessTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: folder.url.path)
        let lines = (0..<200).map { "m,id_participant=p\($0 % 3) k=\($0)i \($0)" }
        _ = try folder.write(lines.joined(separator: "\n") + "\nm k=x 1\n", to: "lines.lp")
    }

    private func shell(_ line: String) throws -> CommandRun {
        try Command.shell(line, in: folder.url)
    }

    /// Modes of a directory and everything in it, by name.
    private func modes(_ name: String) throws -> [String: Int] {
        var modes: [String: Int] = [:]
        let all = FileManager.default.enumerator(atPath: folder.path(name))
        for path in [""] + ((all?.allObjects as? [String]) ?? []) {
            let found = try FileManager.default.attributesOfItem(
                atPath: folder.path(name) + "/" + path)
            modes[path] = found[.posixPermissions] as? Int
        }
        return modes
    }

    private func expectModes(_ name: String, isShared: Bool, _ note: String) throws {
        let modes = try modes(name)
        #expect(modes.count > 3, "\(note): \(modes)")
        for (path, mode) in modes {
            let isFolder = path == "" || path == "rejects"
            let isLock = path == "LOCK"
            let expected =
                isShared && !isLock ? (isFolder ? 0o750 : 0o640) : (isFolder ? 0o700 : 0o600)
            #expect(mode & 0o777 == expected, "\(note), \(path): \(String(mode, radix: 8))")
        }
    }

    @Test(arguments: ["000", "022", "077", "0777"])
    func `files are the owner's alone, or readable for the group, whatever the umask`(
        umask: String
    ) throws {
        for isShared in [false, true] {
            let option = isShared ? "--group-readable" : ""
            let run = try shell(
                """
                umask \(umask)
                cozdb import --db d \(option) lines.lp; test $? = 7 || exit 1
                echo 'n,id_participant=p1 v=1 1' | cozdb write --db d || exit 2
                cozdb compact --db d && cozdb backup --db d b \(option) || exit 3
                echo 'n,id_participant=p1 v=1 2' | cozdb write --db d && cozdb backup --db d b
                test $? = 0 || exit 4
                cozdb restore b --db r \(option) && cozdb restore b --db private || exit 5
                """)
            #expect(run.status == 0, "umask \(umask): \(run.errors)")
            for name in ["d", "b", "r"] {
                try expectModes(name, isShared: isShared, "\(name), umask \(umask)")
            }
            try expectModes("private", isShared: false, "private, umask \(umask)")
            _ = try shell("rm -r d b r private")
        }
    }

    @Test func `chmod shares an existing database, new files included`() throws {
        #expect(try shell("cozdb import --db d lines.lp").status == 7)
        #expect(try shell("chmod -R g+rX d").status == 0)
        #expect(try shell("echo 'n,id_participant=p1 v=1 1' | cozdb write --db d").status == 0)
        try expectModes("d", isShared: true, "after chmod")
    }

    @Test(.enabled(if: Machine.hasOtherUsers, "needs root and setpriv"))
    func `who may only read does not keep the writer out`() throws {
        let script = """
            cozdb import --db d --group-readable lines.lp
            chgrp -R 65534 d; chmod -R g+rX d; chmod g+s d d/rejects
            echo 'n,id_participant=p1 v=1 1' | cozdb write --db d || exit 1
            \(Self.user) cozdb query --db d 'SELECT v FROM n' || exit 2
            \(Self.user) flock d/LOCK sleep 5 && exit 3
            echo 'n,id_participant=p1 v=1 2' | cozdb write --db d || exit 4
            """
        let run = try shell(script)
        #expect(run.status == 0, "\(run.status): \(run.errors)")
        #expect(run.errors.contains("flock: cannot open lock file d/LOCK: Permission denied"))
    }

    @Test(.enabled(if: Machine.isRoot, "gives a directory to another group"))
    func `the group of a shared folder stays that of its databases`() throws {
        let run = try shell(
            """
            mkdir shared && chgrp 65534 shared && chmod 2750 shared
            cozdb import --db shared/d --group-readable lines.lp
            stat -c %g shared/d/*
            """)
        #expect(run.lines.suffix(4).allSatisfy { $0 == "65534" }, "\(run.output)")
    }

    // MARK: Who may not

    /// Everything that writes, and what it is told where it may not.
    private static let writing = [
        "import --db d lines.lp", "write --db d < lines.lp", "compact --db d", "repair --db d",
        "forget --db d --participant p1", "query --db d 'DELETE FROM m'",
        "rejects --db d replay", "import --db d/new lines.lp", "backup --db d d.backup",
        "restore d --db d.restored",
    ]

    private static let reading = [
        "query --db d 'SELECT count(k) FROM m'", "check --db d", "info --db d", "schema --db d",
        "export --db d --format csv", "rejects --db d list", "repair --db d --dry-run",
        "forget --db d --participant p1 --dry-run", "inspect d/MANIFEST", "study --db d",
    ]

    private static let user = "setpriv --reuid=65534 --regid=65534 --clear-groups"

    @Test(.enabled(if: Machine.hasOtherUsers, "needs root and setpriv"))
    func `another user reads what he may read, and is told what he may not`() throws {
        #expect(try shell("cozdb import --db d lines.lp").status == 7)
        for command in Self.reading + Self.writing {
            let run = try shell("\(Self.user) cozdb \(command)")
            #expect(run.status == 3, "\(command): \(run.status) \(run.errors)")
            #expect(
                run.errors.contains("Permission denied; this user has no permission"), "\(command)")
            #expect(run.errors.split(separator: "\n").count == 1, "\(command): \(run.errors)")
        }
        #expect(try shell("chmod -R a+rX d").status == 0)
        let before = try shell("cksum d/*").output
        for command in Self.reading {
            let run = try shell("\(Self.user) cozdb \(command)")
            #expect(run.status == 0, "\(command): \(run.status) \(run.errors)")
        }
        for command in Self.writing {
            let run = try shell("\(Self.user) cozdb \(command)")
            #expect(run.status == 3, "\(command): \(run.status) \(run.errors)")
            #expect(
                run.errors.contains("Permission denied; this user has no permission"), "\(command)")
        }
        #expect(try shell("cksum d/*").output == before)
        let copied = try shell("mkdir t && chmod 777 t && \(Self.user) cozdb backup --db d t/b")
        #expect(copied.status == 0, "\(copied.errors)")
        #expect(try shell("cozdb check --db t/b").status == 0)
    }

    @Test(.enabled(if: Machine.hasReadOnlyMounts, "needs root and mount --bind"))
    func `a read-only file system is read as any other`() throws {
        #expect(try shell("cozdb import --db d lines.lp").status == 7)
        let script = (Self.reading + Self.writing).map { command in
            "cozdb \(command) > out 2> ../err; echo \"$? $(head -c 300 ../err)\""
                .replacing(" > out", with: " > ../out")
        }
        // In a name space of its own: the mount goes with its last process.
        let run = try shell(
            """
            mkdir ro ro/x && mv d lines.lp ro/x && cat > run.sh <<'END'
            mount --bind ro/x ro/x && mount -o remount,ro,bind ro/x && cd ro/x || exit 9
            \(script.joined(separator: "\n"))
            cozdb backup --db d ../b && cozdb check --db ../b
            END
            unshare --mount sh run.sh
            """.replacing("../", with: "../../"))
        #expect(run.status == 0, "\(run.errors)")
        for (command, line) in zip(Self.reading + Self.writing, run.lines) {
            let isReading = Self.reading.contains(command)
            #expect(line.hasPrefix(isReading ? "0 " : "3 "), "\(command): \(line)")
            if isReading { continue }
            #expect(line.contains("Read-only file system; mount it for writing"), "\(line)")
        }
        #expect(run.output.contains("no damage"))
    }
}

/// What tests may ask of this machine.
enum Machine {
    static let isRoot = getuid() == 0
    static let hasOtherUsers = isRoot && succeeds("setpriv --reuid=65534 --clear-groups true")
    static let hasReadOnlyMounts = isRoot && succeeds("unshare --mount mount --bind /tmp /tmp")

    static func succeeds(_ line: String) -> Bool {
        let run = try? Command.shell(line, in: FileManager.default.temporaryDirectory)
        return run?.status == 0
    }
}
