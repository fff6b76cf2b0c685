// `cozdb inspect`: prints any database file as text.

internal import ArgumentParser
internal import CozDB

struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Print any file of a database as text.",
        discussion: """
            Shows the contents of a manifest, log, segment or rejects file byte by byte. The pages \
            in docs/format explain the terms.

            Examples:
              cozdb inspect study.cozdb/MANIFEST
              cozdb inspect study.cozdb/00000045.seg | less
            """)

    @Argument(help: "A file of a database.", completion: .file())
    var file: String

    func run() throws {
        let output = OutputWriter()
        try Database.inspect(file) { text throws(DatabaseError) in
            output.append(text)
            try DatabaseError.checkInterrupt()
        }
        try output.flush()
    }
}
