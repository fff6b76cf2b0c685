// How time and memory grow with one property of the input. An exponent of 1 means that twice the
// input costs twice as much.

internal import CozDB
internal import Glibc

/// A property of a file that can grow. To add an axis, add an entry to `all`.
struct GrowthAxis: Sendable {
    let name: String
    /// The sizes to measure, ascending.
    let counts: [Int]
    /// The statement to measure on the imported file; nil measures the import.
    var statement: (@Sendable (Int) -> String)?
    /// How often to import the file. The last import is measured, with the merge that it causes.
    var importCount = 1
    /// Writes a file of the given size.
    let write: @Sendable (Int, OutputFile) throws(DatabaseError) -> Void

    static let all = [
        GrowthAxis(name: "fields", counts: [4000, 8000, 16_000, 30_000]) {
            count, file throws(DatabaseError) in
            try file.append("m,id_participant=p ")
            for number in 0..<count {
                try file.append("\(number > 0 ? "," : "")f\(number)=\(number * 37 % 1000).5")
            }
            try file.append(" 1700000000000000000\n")
        },
        GrowthAxis(name: "equal-fields", counts: [4000, 8000, 16_000, 30_000]) {
            count, file throws(DatabaseError) in
            try file.append("m,id_participant=p ")
            for number in 0..<count { try file.append("\(number > 0 ? "," : "")f\(number)=1") }
            try file.append(" 1700000000000000000\n")
        },
        GrowthAxis(name: "tags", counts: [4000, 8000, 16_000, 29_000]) {
            count, file throws(DatabaseError) in
            try file.append("m,id_participant=p")
            for number in 0..<count { try file.append(",t\(number)=v\(number)") }
            try file.append(" x=1 1700000000000000000\n")
        },
        GrowthAxis(name: "sparse-fields", counts: [2000, 4000, 8000, 16_000]) {
            count, file throws(DatabaseError) in
            for number in 0..<count {
                try file.append("m,id_participant=p\(number) f\(number)=1 1700000000000000000\n")
            }
        },
        GrowthAxis(
            name: "merged-sparse", counts: [4000, 8000, 16_000, 30_000], importCount: 2
        ) { count, file throws(DatabaseError) in
            for number in 0..<count {
                try file.append("m,id_participant=p\(number) f\(number)=1 1700000000000000000\n")
            }
        },
        GrowthAxis(name: "experiments", counts: [500, 1000, 2000, 4000]) {
            count, file throws(DatabaseError) in
            for number in 0..<count {
                try file.append("m\(number),id_participant=p x=1 1700000000000000000\n")
            }
        },
    ]
}

enum GrowthWorkload {
    /// - Parameter name: Name of one axis; nil for all.
    static func run(directory: String, name: String?) throws(DatabaseError) {
        let all = GrowthAxis.all + GrowthAxis.statements
        let axes = all.filter { name == nil || $0.name == name }
        guard !axes.isEmpty else {
            let names = all.map(\.name).joined(separator: ", ")
            throw DatabaseError(.usage, "no such axis; expected one of \(names)")
        }
        for axis in axes { try measure(axis, in: directory) }
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
        let file = try OutputFile(path + ".lp")
        try axis.write(count, file)
        try file.flush()
        var made = try CommandRun.ofWorkload("import", path + ".lp", path + ".cozdb")
        for _ in 1..<axis.importCount {
            made = try CommandRun.ofWorkload("import", path + ".lp", path + ".cozdb")
        }
        guard let statement = axis.statement else { return made }
        let text = try OutputFile(path + ".iql")
        try text.append(statement(count))
        try text.flush()
        return try CommandRun.ofWorkload("ask", path + ".cozdb", path + ".iql")
    }

    /// Runs the statement in a file and discards the answer.
    static func ask(database path: String, file: String) throws(DatabaseError) {
        let database = try Database.open(path, access: .readOnly)
        let text = String(decoding: try ParseWorkload.readFile(file), as: UTF8.self)
        var options = QueryOptions(now: Timestamp(nanoseconds: 1 << 60))
        options.limits = QueryLimits()
        options.limits?.textSizeBytesMax = 1 << 26
        var sink = DiscardingSink()
        try database.query(text, options: options, into: &sink)
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
