// The options of `cozdb query` that limit the resources of a statement.

internal import ArgumentParser
internal import CozDB

struct QueryLimitOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Maximum number of rows in an answer (1000000000).", valueName: "n"))
    var maxRows: Int?

    @Option(
        help: ArgumentHelp("Maximum number of groups in a statement (10000000).", valueName: "n"))
    var maxGroups: Int?

    @Option(
        help: ArgumentHelp(
            "Maximum number of buckets in GROUP BY time (10000000).", valueName: "n"))
    var maxBuckets: Int?

    @Option(
        help: ArgumentHelp(
            "Maximum memory for a statement's buffers, such as 500M or 8G (4G).",
            valueName: "bytes"))
    var maxMemory: ByteCount?

    @Option(
        help: ArgumentHelp(
            "Maximum time for all statements, such as 30s or 10m (no limit).",
            valueName: "duration"))
    var maxTime: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "Maximum size of the statement text, such as 4M (1M).", valueName: "bytes"))
    var maxText: ByteCount?

    @Option(
        help: ArgumentHelp(
            "Maximum nesting depth of a statement, up to 500 (500).", valueName: "n"))
    var maxNesting: Int?

    func validate() throws {
        let numbers = [
            ("--max-rows", maxRows), ("--max-groups", maxGroups), ("--max-buckets", maxBuckets),
            ("--max-nesting", maxNesting),
        ]
        for case (let name, let number?) in numbers where number < 1 {
            throw ValidationError("\(name): found \(number), expected 1 or more")
        }
        if let maxNesting, maxNesting > 500 {
            throw ValidationError("--max-nesting: found \(maxNesting), expected 1 to 500")
        }
        if let maxText, maxText.value > 64 << 20 {
            throw ValidationError("--max-text: found \(maxText.value), expected 1 to 64M")
        }
    }

    /// The default limits, changed by the options that were given.
    var limits: QueryLimits {
        var limits = QueryLimits()
        if let maxRows { limits.rowCountMax = maxRows }
        if let maxGroups { limits.groupCountMax = maxGroups }
        if let maxBuckets { limits.bucketCountMax = maxBuckets }
        if let maxMemory { limits.memorySizeBytesMax = maxMemory.value }
        if let maxTime { limits.durationMax = .nanoseconds(maxTime.nanoseconds) }
        if let maxText { limits.textSizeBytesMax = maxText.value }
        if let maxNesting { limits.nestingDepthMax = maxNesting }
        return limits
    }

    /// Returns the option that raises the limit which the error names.
    static func option(for error: DatabaseError) -> String? {
        guard error.kind == .limitExceeded else { return nil }
        let options = [
            ("rowCountMax", "--max-rows"), ("groupCountMax", "--max-groups"),
            ("bucketCountMax", "--max-buckets"), ("memorySizeBytesMax", "--max-memory"),
            ("textSizeBytesMax", "--max-text"), ("durationMax", "--max-time"),
        ]
        return options.first { error.message.contains("(\($0.0))") }?.1
    }
}

/// A number of bytes, optionally with a unit: K, M or G, as powers of 1024.
struct ByteCount: ExpressibleByArgument {
    let value: Int

    init?(argument: String) {
        var digits = argument
        var unit = 1
        for (letter, bytes) in [("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30)]
        where digits.uppercased().hasByteSuffix(letter) {
            digits = String(decoding: digits.utf8.dropLast(), as: UTF8.self)
            unit = bytes
            break
        }
        guard let number = Int(digits), number > 0 else { return nil }
        let (product, isOver) = number.multipliedReportingOverflow(by: unit)
        if isOver { return nil }
        value = product
    }
}
