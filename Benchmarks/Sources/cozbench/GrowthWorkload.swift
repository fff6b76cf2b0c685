// Whether a row costs the same in a large file as in a small one.

internal import CozDB
internal import CozImport

enum GrowthWorkload {
    /// - Parameter directory: where the two databases go.
    static func run(small: String, large: String, directory: String) throws(DatabaseError) {
        let first = try measure(small, "\(directory)/small.cozdb")
        let second = try measure(large, "\(directory)/large.cozdb")
        print("a row, large to small: time \(digits(second.time / first.time))")
        print("                       size \(digits(second.size / first.size))")
    }

    private static func measure(
        _ path: String, _ directory: String
    ) throws(DatabaseError) -> (time: Double, size: Double) {
        let run = try ImportRun(path, into: directory, compacts: false)
        let points = Double(max(1, run.report.points))
        let rows = Double(max(1, run.rows))
        let time = run.processorSeconds / points
        let size = Double(run.info.diskBytes) / rows
        print(
            "\(path): \(run.report.points) points, \(digits(time * 1e6)) us of processor each, "
                + "\(run.rows) rows, \(digits(size)) bytes each, peak "
                + "\(ProcessCosts.peakSizeBytes() / 1_000_000) MB so far")
        return (time, size)
    }
}
