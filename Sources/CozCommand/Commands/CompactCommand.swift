// `cozdb compact`: merges segments until there is nothing left to merge.

internal import ArgumentParser
internal import CozDB

struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Merge segments: remove replaced values and compress blocks again.",
        discussion: """
            The database merges segments in the background while it is written to. This command \
            does all pending merges now. It can be interrupted at any time. Readers are not \
            affected.

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
