// The cost of compaction alone: writes segments without merging them, then merges all of them in a
// process that does nothing else.

internal import CozDB
internal import CozImport

enum MergeWorkload {
    /// Imports a file without compaction, so that the segments stay as the flushes wrote them.
    static func unmerged(path: String, directory: String) throws(DatabaseError) {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        let database = try Database.open(directory, options: options)
        _ = try importFiles([path], into: database)
        try database.close()
    }

    static func merge(_ directory: String) throws(DatabaseError) {
        let database = try Database.open(directory)
        try database.compact()
        try database.close()
    }

    /// Runs both steps, each in its own process.
    static func run(path: String, directory: String) throws(DatabaseError) {
        _ = try CommandRun.ofWorkload("unmerged", path, directory)
        let before = try Database.open(directory, access: .readOnly).info()
        let run = try CommandRun.ofWorkload("merge", directory)
        let after = try Database.open(directory, access: .readOnly).info()
        let values = after.experiments.reduce(0) { $0 + $1.values }
        print("before              \(before.segments) segments, \(before.segmentBytes) bytes")
        print(
            "after               \(after.segments) segments, \(after.segmentBytes) bytes, "
                + "\(digits(Double(after.segmentBytes) / Double(max(1, values)))) a value")
        print(
            "merged in           \(digits(run.seconds)) s, \(digits(run.cpuTime)) s of "
                + "processor: \(digits(Double(values) / run.seconds / 1e6)) M values/s")
        print(
            "written             \(run.writtenBytes) bytes: "
                + "\(digits(Double(run.writtenBytes) / Double(max(1, after.segmentBytes)))) times "
                + "the result")
        print("peak memory         \(run.peakSizeBytes / 1_000_000) MB")
    }
}
