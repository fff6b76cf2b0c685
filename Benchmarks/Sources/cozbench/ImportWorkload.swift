// How fast a file becomes a database, and how much memory that takes.

internal import CozDB
internal import CozImport
internal import Glibc

enum ImportWorkload {
    static func run(path: String, directory: String) throws(DatabaseError) {
        let database = try Database.open(directory)
        let report = try importFiles([path], into: database)
        let rate = Double(report.decodedBytes) / report.seconds / 1e6
        print(
            "\(Int(rate)) MB/s, \(Int(Double(report.points) / report.seconds)) rows/s, "
                + "\(Int(Double(report.values) / report.seconds)) values/s: "
                + "\(report.points) points, \(report.values) values, "
                + "\(report.refusedLines) refused lines")
        try database.close()
        var usage = rusage()
        // Sound: fills in a local value.
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        print("peak memory: \(usage.ru_maxrss / 1024) MB")
    }
}
