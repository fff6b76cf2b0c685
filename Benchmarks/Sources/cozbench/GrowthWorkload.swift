// How time and memory grow with one property of the input. An exponent of 1 means that twice the
// input costs twice as much.

internal import CozDB
internal import CozImport
internal import Glibc

/// A property of a file that can grow. To add an axis, add an entry to one of the lists in `all`.
struct GrowthAxis: Sendable {
    let name: String
    /// The sizes to measure, ascending.
    let counts: [Int]
    /// The options of the import.
    var options: @Sendable (Int) -> ImportOptions = { _ in ImportOptions() }
    /// The statement to measure on the imported file; nil measures the import.
    var statement: (@Sendable (Int) -> String)?
    /// How often to import the file. The last import is measured, with the merge that it causes.
    var importCount = 1
    /// Writes a file of the given size.
    let write: @Sendable (Int, OutputFile) throws(DatabaseError) -> Void

    static let all = lines + formats + statements
}

enum GrowthWorkload {
    /// - Parameter name: Name of one axis; nil for all.
    static func run(directory: String, name: String?) throws(DatabaseError) {
        guard let name else {
            for axis in GrowthAxis.all { try measure(axis, in: directory) }
            return
        }
        try measure(try axis(name), in: directory)
    }

    private static func axis(_ name: String) throws(DatabaseError) -> GrowthAxis {
        if let axis = GrowthAxis.all.first(where: { $0.name == name }) { return axis }
        let names = GrowthAxis.all.map(\.name).joined(separator: ", ")
        throw DatabaseError(.usage, "no such axis; expected one of \(names)")
    }

    private static func measure(_ axis: GrowthAxis, in directory: String) throws(DatabaseError) {
        // Subtract the cost of an import of nearly nothing.
        let base = try cost(axis, 1, in: directory)
        var points: [(count: Int, seconds: Double, bytes: Double)] = []
        for count in axis.counts {
            let run = try cost(axis, count, in: directory)
            let seconds = max(1e-4, run.cpuTime - base.cpuTime)
            let bytes = max(1e4, Double(run.peakSizeBytes - base.peakSizeBytes))
            points.append((count, seconds, bytes))
            print(
                "\(axis.name.padded(to: 20))\("\(count)".padded(to: 8))"
                    + "\(digits(run.cpuTime)) s of processor, "
                    + "\(run.peakSizeBytes / 1_000_000) MB")
        }
        print(
            "\(axis.name.padded(to: 20))exponent of time "
                + "\(digits(exponent(points.map { (Double($0.count), $0.seconds) }))), of memory "
                + "\(digits(exponent(points.map { (Double($0.count), $0.bytes) })))")
    }

    private static func cost(
        _ axis: GrowthAxis, _ count: Int, in directory: String
    ) throws(DatabaseError) -> CommandRun {
        let path = "\(directory)/\(axis.name)-\(count)"
        let file = try OutputFile(path + ".in")
        try axis.write(count, file)
        try file.flush()
        var run = try CommandRun.ofWorkload("grow", axis.name, "\(count)", path)
        for _ in 1..<axis.importCount {
            run = try CommandRun.ofWorkload("grow", axis.name, "\(count)", path)
        }
        if axis.statement == nil { return run }
        return try CommandRun.ofWorkload("ask", axis.name, "\(count)", path)
    }

    /// Imports the file of an axis.
    static func grow(_ name: String, count: Int, path: String) throws(DatabaseError) {
        let database = try Database.open(path + ".cozdb")
        _ = try importFiles([path + ".in"], into: database, options: axis(name).options(count))
        try database.close()
    }

    /// Runs the statement of an axis and discards the answer.
    static func ask(_ name: String, count: Int, path: String) throws(DatabaseError) {
        guard let statement = try axis(name).statement?(count) else { return }
        let database = try Database.open(path + ".cozdb", access: .readOnly)
        var options = QueryOptions(now: Timestamp(nanoseconds: 1 << 60))
        options.limits = QueryLimits()
        options.limits?.textSizeBytesMax = 1 << 26
        var sink = DiscardingSink()
        try database.query(statement, options: options, into: &sink)
        try database.close()
    }

    /// The slope of the least-squares line through the logarithms of the points.
    private static func exponent(_ points: [(Double, Double)]) -> Double {
        let logs = points.map { (x: log($0.0), y: log($0.1)) }
        let count = Double(logs.count)
        let meanX = logs.reduce(0) { $0 + $1.x } / count
        let meanY = logs.reduce(0) { $0 + $1.y } / count
        let over = logs.reduce(0) { $0 + ($1.x - meanX) * ($1.y - meanY) }
        return over / logs.reduce(0) { $0 + ($1.x - meanX) * ($1.x - meanX) }
    }
}
