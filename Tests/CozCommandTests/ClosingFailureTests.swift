// A device that fails when a database is closed: what was acknowledged is said, and the exit status
// is that of the contract.

internal import Foundation
internal import Testing

@Suite(
    .disabled(if: Command.isSanitized, "a sanitizer comes before all other libraries"),
    .enabled(if: Machine.succeeds("cc --version"), "needs a C compiler"))
struct ClosingFailureTests {
    private let folder: TemporaryFolder

    /// Stands in for the C library: as soon as there is a file `failing`, no sync succeeds.
    private static let library = """
        #include <errno.h>
        #include <unistd.h>
        static int sync_or_fail(void) {
            if (access("failing", F_OK) != 0) { errno = 0; return 0; }
            errno = EIO;
            return -1;
        }
        int fsync(int descriptor) { (void)descriptor; return sync_or_fail(); }
        int fdatasync(int descriptor) { (void)descriptor; return sync_or_fail(); }
        """

    init() throws {
        folder = try TemporaryFolder()
        _ = try folder.write(ClosingFailureTests.library, to: "failing.c")
        let made = try shell("cc -shared -fPIC -o failing.so failing.c")
        #expect(made.status == 0, "\(made.errors)")
    }

    private func shell(_ line: String) throws -> CommandRun {
        try Command.shell(line, in: folder.url)
    }

    @Test func `a failed close is 3 and a sentence, after what was acknowledged`() throws {
        let run = try shell(
            """
            (echo 'm,id_participant=p v=1 1'
            while ! test -s answers; do sleep 0.05; done
            touch failing) | LD_PRELOAD=./failing.so cozdb write --db d > answers
            """)
        #expect(run.status == 3, "\(run)")
        #expect(try shell("cat answers").output == "ok\n")
        expectSentence(run)
        // What was acknowledged is there.
        let after = try shell(
            "rm failing; cozdb check --db d > /dev/null && cozdb query --db d --format csv "
                + "--epoch ns 'SELECT v FROM m'")
        #expect(after.output == "time,v\n1,1\n", "\(after)")
    }

    @Test(arguments: ["compact --db d", "import --db d more.lp", "query --db d 'DELETE FROM m'"])
    func `a command that changes a database says that the device fails`(command: String) throws {
        _ = try folder.write("m,id_participant=p v=2 2\n", to: "more.lp")
        let run = try shell(
            """
            echo 'm,id_participant=p v=1 1' | cozdb write --db d
            echo 'm,id_participant=p v=1 1' | cozdb write --db d
            touch failing; LD_PRELOAD=./failing.so cozdb \(command)
            """)
        #expect(run.status == 3, "\(run)")
        expectSentence(run)
        #expect(try shell("rm failing; cozdb check --db d").status == 0)
    }

    private func expectSentence(_ run: CommandRun) {
        #expect(run.errors.hasPrefix("cozdb: "), "\(run.errors)")
        #expect(run.errors.contains("Input/output error"), "\(run.errors)")
        #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
    }
}
