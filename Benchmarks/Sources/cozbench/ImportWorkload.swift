// An import into a new database: speed, size at rest, and bytes written on the way.

internal import CozDB
internal import CozImport

/// One import, from opening the new database to closing it.
struct ImportRun {
    let report: ImportReport
    /// Wall time of the whole import, including the close.
    let seconds: Double
    let cpuTime: Double
    let writtenBytes: Int
    let info: DatabaseInfo

    init(_ path: String, into directory: String) throws(DatabaseError) {
        let start = Clock.now()
        let cpuStart = Clock.processor()
        let writtenBytesAtStart = try ProcessCosts.writtenBytes()
        let database = try Database.open(directory)
        report = try importFiles([path], into: database)
        try database.close()
        seconds = Clock.now() - start
        cpuTime = Clock.processor() - cpuStart
        writtenBytes = try ProcessCosts.writtenBytes() - writtenBytesAtStart
        info = try Database.open(directory, access: .readOnly).info()
    }

    var values: Int { info.experiments.reduce(0) { $0 + $1.values } }
    var rows: Int { info.experiments.reduce(0) { $0 + $1.rows } }
}

enum ImportWorkload {
    static func run(path: String, directory: String) throws(DatabaseError) {
        let run = try ImportRun(path, into: directory)
        let report = run.report
        let rate = Double(report.decodedBytes) / run.seconds / 1e6
        print(
            "import              \(digits(rate)) MB/s, "
                + "\(Int(Double(report.values) / run.seconds)) values/s, "
                + "\(digits(run.cpuTime)) s of processor in \(digits(run.seconds)) s")
        print(
            "read                \(report.points) points, \(report.values) values, "
                + "\(report.refusedLines) refused lines")
        print("stored              \(run.rows) rows, \(run.values) values")
        let size = run.info.diskBytes
        print(
            "on disk             \(size) bytes, "
                + "\(digits(Double(size) / Double(max(1, run.values)))) a value, "
                + "\(run.info.segments) segments")
        let amplification = Double(run.writtenBytes) / Double(max(1, size))
        print(
            "written             \(run.writtenBytes) bytes, log and merges included: "
                + "\(digits(amplification)) times what is at rest")
        print("peak memory         \(ProcessCosts.peakSizeBytes() / 1_000_000) MB")
    }
}
