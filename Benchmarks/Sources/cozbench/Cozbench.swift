// Runs one named workload: `cozbench WORKLOAD ARGUMENTS`. Wall times are informative only; no check
// depends on them.

internal import CozDB
internal import Glibc

/// A workload: a measurement, or the creation of an input file for one.
struct Workload: Sendable {
    let name: String
    /// Names of the arguments, as the usage text prints them; those in brackets are optional.
    let arguments: String
    let what: String
    let run: @Sendable (Arguments) throws -> Void

    init(
        _ name: String, _ arguments: String, _ what: String,
        _ run: @escaping @Sendable (Arguments) throws -> Void
    ) {
        self.name = name
        self.arguments = arguments
        self.what = what
        self.run = run
    }

    var countMin: Int { arguments.split(separator: " ").filter { !$0.hasPrefix("[") }.count }

    var countMax: Int { arguments.split(separator: " ").count }
}

/// The arguments after the workload's name.
struct Arguments {
    let words: [String]

    subscript(_ index: Int) -> String { words[index] }

    func number(_ index: Int, or other: Int) throws(DatabaseError) -> Int {
        guard index < words.count else { return other }
        guard let number = Int(words[index]), number > 0 else {
            throw DatabaseError(.usage, "\"\(words[index])\" is no count; expected 1 or more")
        }
        return number
    }
}

@main
struct Cozbench {
    static let workloads = [
        Workload("import", "FILE DIRECTORY", "a file into a new database: speed, size, memory") {
            try ImportWorkload.run(path: $0[0], directory: $0[1])
        },
        Workload("unmerged", "FILE DIRECTORY", "the same without a merge, closing included") {
            try MergeWorkload.unmerged(path: $0[0], directory: $0[1])
        },
        Workload("merge", "DATABASE", "merges all segments to one") {
            try MergeWorkload.merge($0[0])
        },
        Workload(
            "compaction", "FILE DIRECTORY",
            "both, each in a process of its own: time, bytes written and memory of the merge"
        ) {
            try MergeWorkload.run(path: $0[0], directory: $0[1])
        },
        Workload(
            "late", "FILE DIRECTORY [SEED]",
            "a file shuffled, beside itself in order: speed, memory, bytes written"
        ) {
            try LateWorkload.run(
                path: $0[0], directory: $0[1], seed: UInt64($0.number(2, or: 1)))
        },
        Workload(
            "sessions", "DIRECTORY [COUNT] [ROWS]",
            "open, write, close, many times: segments, bytes written and at rest"
        ) {
            try SessionsWorkload.run(
                directory: $0[0], sessions: $0.number(1, or: 300), rows: $0.number(2, or: 1000))
        },
        Workload("series", "DIRECTORY [COUNT]", "a million participants of one row") {
            try SeriesWorkload.run(directory: $0[0], count: $0.number(1, or: 1_000_000))
        },
        Workload(
            "growth", "DIRECTORY [AXIS]",
            "how time and memory grow with what a file has much of: exponents"
        ) {
            try GrowthWorkload.run(
                directory: $0[0], name: $0.words.count > 1 ? $0[1] : nil)
        },
        Workload("grow", "AXIS COUNT PATH", "the import of an axis of growth") {
            try GrowthWorkload.grow($0[0], count: $0.number(1, or: 1), path: $0[2])
        },
        Workload("ask", "AXIS COUNT PATH", "the statement of an axis of growth") {
            try GrowthWorkload.ask($0[0], count: $0.number(1, or: 1), path: $0[2])
        },
        Workload(
            "cancel", "DIRECTORY [REPEATS]",
            "statements cancelled at random moments: how long they go on"
        ) {
            try CancelWorkload.run(directory: $0[0], repeats: $0.number(1, or: 20))
        },
        Workload(
            "scale", "SMALL LARGE DIRECTORY",
            "a small file and a large: cost of a row, opening, questions of one participant"
        ) {
            try ScaleWorkload.run(small: $0[0], large: $0[1], directory: $0[2])
        },
        Workload("queries", "DATABASE [REPEATS] [QUERY]", "the fourteen queries, or one, warm") {
            try QueriesWorkload.run(
                path: $0[0], repeats: $0.number(1, or: 20),
                name: $0.words.count > 2 ? $0[2] : nil)
        },
        Workload("open", "DATABASE [REPEATS]", "opening and closing, for reading and writing") {
            try OpenWorkload.run(path: $0[0], repeats: $0.number(1, or: 50))
        },
        Workload(
            "commits", "DIRECTORY [COUNT] [THREADS]",
            "durable commits of one row: one writer beside an fdatasync loop, then many threads"
        ) {
            try CommitsWorkload.run(
                directory: $0[0], count: $0.number(1, or: 2000), threads: $0.number(2, or: 100))
        },
        Workload(
            "reads", "DIRECTORY [THREADS]",
            "a small query alone and beside writers; what an open cursor costs"
        ) {
            try ReadsWorkload.run(directory: $0[0], threads: $0.number(1, or: 64))
        },
        Workload("batches", "DIRECTORY [ROWS] [COUNT]", "durable batches, each waited for") {
            try BatchesWorkload.run(
                directory: $0[0], rows: $0.number(1, or: 1000), count: $0.number(2, or: 500))
        },
        Workload("shuffle", "IN OUT SEED", "makes a file with every line at a random place") {
            try ShuffledFile.write($0[0], to: $0[1], seed: UInt64($0.number(2, or: 1)))
        },
        Workload(
            "export-shape", "IN OUT",
            "makes a file as influx_inspect export writes it: a field a line, sorted"
        ) {
            try ExportShapedFile.write($0[0], to: $0[1])
        },
        Workload("parse", "FILE [REPEATS]", "line protocol to batches of 10,000; no database") {
            try ParseWorkload.run(path: $0[0], repeats: $0.number(1, or: 5))
        },
        Workload("payload", "FILE DIRECTORY [REPEATS]", "JSON of the Cozie app, 100 items a time") {
            try PayloadWorkload.run(
                path: $0[0], repeats: $0.number(2, or: 5), directory: $0[1])
        },
        Workload("table", "FORMAT FILE [REPEATS]", "CSV or JSON to batches; no database") {
            try TableWorkload.run(format: $0[0], path: $0[1], repeats: $0.number(2, or: 5))
        },
        Workload(
            "figures", "COMMAND FILE DIRECTORY [REPEATS]",
            "the command's import speed, memory, size and start-up"
        ) {
            try FiguresWorkload.run(
                command: $0[0], file: $0[1], directory: $0[2], repeats: $0.number(3, or: 3))
        },
    ]

    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        let arguments = Arguments(words: Array(words.dropFirst()))
        guard let workload = workloads.first(where: { $0.name == words.first }),
            (workload.countMin...workload.countMax).contains(arguments.words.count)
        else {
            printUsage()
            exit(64)
        }
        do {
            try workload.run(arguments)
        } catch {
            let text = "cozbench: \(error)\n"
            // Sound: the bytes of a string that is alive.
            _ = unsafe write(STDERR_FILENO, text, text.utf8.count)
            exit(3)
        }
    }

    private static func printUsage() {
        print("usage: cozbench WORKLOAD ARGUMENTS")
        for workload in workloads {
            print("  \(workload.name.padded(to: 13))\(workload.arguments)")
            print("  \("".padded(to: 13))  \(workload.what)")
        }
    }
}
