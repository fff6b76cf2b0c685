// The `cozdb` command: process start, subcommands, process exit.

internal import ArgumentParser
internal import CozDB
internal import CozPlatform

@main
struct Cozdb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cozdb",
        abstract: "CozDB, a durable columnar database for Cozie study data.",
        discussion: """
            A database is a directory. One process can write to it while others read. An \
            experiment corresponds to a measurement in InfluxDB; its rows belong to participants.

            Getting started:
              cozdb import --db study.cozdb influx-export.txt
              cozdb info --db study.cozdb
              cozdb query --db study.cozdb "SELECT count(*) FROM dev"

            To make a sample export: cozdb sample --shape export > influx-export.txt

            Exit status: 0 success; 1 damage found; 3 input/output error or disk full; 4 locked by \
            another writer; 5 not found, not a database, or a newer format; 6 limit exceeded; 7 \
            finished, but some input was refused (see cozdb rejects); 64 usage error or invalid \
            statement; 130 interrupted.
            """,
        version: "cozdb \(Version.text)",
        subcommands: [
            ImportCommand.self, ExportCommand.self, QueryCommand.self, WriteCommand.self,
            InfoCommand.self, SchemaCommand.self, CatalogueCommand.self, SurveyCommand.self,
            StudyCommand.self, SummaryCommand.self, CheckCommand.self, RepairCommand.self,
            CompactCommand.self, BackupCommand.self, RestoreCommand.self, RejectsCommand.self,
            ForgetCommand.self, InspectCommand.self, SampleCommand.self,
        ])

    static func main() {
        Signals.prepareProcess()
        do {
            try checkArguments()
            try OpenFiles.prepare()
            try MemoryLimit.prepare()
            var command = try parseAsRoot()
            try command.run()
        } catch let error as DatabaseError {
            error.report()
            Glibc.exit(ExitStatus(error.kind).rawValue)
        } catch let code as ExitCode {
            Glibc.exit(code.rawValue)
        } catch {
            end(with: error)
        }
    }
}

extension Cozdb {
    /// Prints help, the version, a completion script or a usage error, and exits. Usage errors have
    /// their own exit status and quote the argument as given.
    private static func end(with error: any Error) -> Never {
        let code = exitCode(for: error)
        let text = fullMessage(for: error)
        if code.isSuccess {
            let output = OutputWriter()
            output.append(text + "\n")
            try? output.flush()
        } else if !text.isEmpty {
            StandardError.writeLine(text)
        }
        Glibc.exit(code.rawValue)
    }

    /// Rejects arguments that are not UTF-8. Swift would repair them, and a repaired statement
    /// means something else.
    private static func checkArguments() throws(DatabaseError) {
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let bytes = unsafe CommandLine.unsafeArgv[index] else { continue }
            if unsafe String(validatingCString: bytes) == nil {
                throw DatabaseError(
                    .usage, "argument \(index): found bytes that are not UTF-8, expected text")
            }
        }
    }
}

enum Version {
    static let text = "0.1.0"
}
