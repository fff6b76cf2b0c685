// The cost of late data: imports a file with its lines in random order and the same file in order.

internal import CozDB
internal import CozImport

enum LateWorkload {
    /// Runs each import in its own process.
    ///
    /// - Parameter directory: Where the shuffled file and the three databases are created.
    static func run(path: String, directory: String, seed: UInt64) throws(DatabaseError) {
        let shuffled = "\(directory)/shuffled.lp"
        _ = try CommandRun.ofWorkload("shuffle", path, shuffled, "\(seed)")
        let ordered = try imported(path, "\(directory)/ordered.cozdb")
        let late = try imported(shuffled, "\(directory)/late.cozdb")
        let unmerged = "\(directory)/unmerged.cozdb"
        _ = try CommandRun.ofWorkload("unmerged", shuffled, unmerged)
        let loose = try Database.open(unmerged, access: .readOnly).info()
        line("in order", ordered)
        line("shuffled", late)
        print(
            "shuffled, unmerged    \(loose.segmentBytes) bytes in \(loose.segments) segments: "
                + "written \(ratio(late.run.writtenBytes, loose.segmentBytes)) times that")
        print("speed to in order     \(digits(ordered.run.seconds / late.run.seconds))")
    }

    private static func imported(
        _ path: String, _ directory: String
    ) throws(DatabaseError) -> (run: CommandRun, info: DatabaseInfo) {
        let run = try CommandRun.ofWorkload("import", path, directory)
        return (run, try Database.open(directory, access: .readOnly).info())
    }

    private static func line(_ name: String, _ it: (run: CommandRun, info: DatabaseInfo)) {
        print(
            "\(name.padded(to: 22))\(digits(it.run.seconds)) s, "
                + "\(digits(it.run.cpuTime)) s of processor, peak "
                + "\(it.run.peakSizeBytes / 1_000_000) MB")
        print(
            "".padded(to: 22) + "\(it.info.diskBytes) bytes at rest in \(it.info.segments) "
                + "segments; written \(it.run.writtenBytes): "
                + "\(ratio(it.run.writtenBytes, it.info.diskBytes)) times that")
    }

    private static func ratio(_ part: Int, _ whole: Int) -> String {
        digits(Double(part) / Double(max(1, whole)))
    }
}
