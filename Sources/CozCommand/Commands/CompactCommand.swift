// `cozdb compact`: merges segments until there is nothing left to merge.

internal import ArgumentParser
internal import CozDB

struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Merge segments: replaced values go, blocks are packed again.",
        discussion: """
            The database does this by itself while it is written to; the command does all of it \
            now. It can be stopped at any point. Readers are not disturbed.

            Example:
              cozdb compact --db study.cozdb
            """)

    @OptionGroup var database: DatabaseOption
    @OptionGroup var wait: WaitOption

    func run() throws {
        var before = DatabaseInfo()
        try Database.withWriter(database.path, creates: false, wait.lock) {
            database throws(DatabaseError) in
            before = try database.info()
            try database.compact()
            try DatabaseError.checkInterrupt()
        }
        let after = try Database.withReader(database.path) { database throws(DatabaseError) in
            try database.info()
        }
        let output = OutputWriter()
        output.append(
            """
            segments  \(before.segments) -> \(after.segments)
            bytes     \(PlainText.size(before.segmentBytes + before.walBytes)) -> \
            \(PlainText.size(after.segmentBytes + after.walBytes))

            """)
        try output.flush()
    }
}
