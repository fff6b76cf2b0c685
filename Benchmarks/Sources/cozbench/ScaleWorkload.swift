// Whether costs stay constant as the data grows: per row, of opening, and of queries for one
// participant.

internal import CozDB
internal import CozImport

enum ScaleWorkload {
    private struct Costs {
        /// CPU seconds per point.
        var time: Double
        /// Bytes at rest per row.
        var size: Double
        /// Seconds to open the database for reading.
        var opening: Double
        /// Seconds per query for one participant.
        var questions: [(name: String, seconds: Double)]
    }

    /// Queries for one participant whose answers do not grow with the data.
    private static let ofOneParticipant = ["Q2", "Q6", "Q7"]

    /// - Parameter directory: Where the two databases are created.
    static func run(small: String, large: String, directory: String) throws(DatabaseError) {
        let first = try measure(small, "\(directory)/small.cozdb")
        let second = try measure(large, "\(directory)/large.cozdb")
        print("large to small: time of a row \(digits(second.time / first.time))")
        print("                size of a row \(digits(second.size / first.size))")
        print("                opening       \(digits(second.opening / first.opening))")
        for (one, other) in zip(first.questions, second.questions) {
            print(
                "                \(one.name.padded(to: 14))\(digits(other.seconds / one.seconds))")
        }
    }

    private static func measure(
        _ path: String, _ directory: String
    ) throws(DatabaseError) -> Costs {
        let run = try ImportRun(path, into: directory)
        let points = Double(max(1, run.report.points))
        let rows = Double(max(1, run.rows))
        let time = run.cpuTime / points
        let size = Double(run.info.diskBytes) / rows
        print(
            "\(path): \(run.report.points) points, \(digits(time * 1e6)) us of processor each, "
                + "\(run.rows) rows, \(digits(size)) bytes each, peak "
                + "\(ProcessCosts.peakSizeBytes() / 1_000_000) MB so far")
        var openings = Durations()
        for _ in 0..<50 {
            let start = Clock.now()
            _ = try Database.open(directory, access: .readOnly)
            openings.append(Clock.now() - start)
        }
        let database = try Database.open(directory, access: .readOnly)
        var questions: [(name: String, seconds: Double)] = []
        for question in QueriesWorkload.table(try QueryConstants(database))
        where ofOneParticipant.contains(question.name) {
            let (times, rows) = try QueriesWorkload.ask(question, of: database, repeats: 50)
            questions.append((question.name, times.least))
            print("  \(question.name): \(digits(times.least * 1e3)) ms, \(rows) rows")
        }
        return Costs(time: time, size: size, opening: openings.least, questions: questions)
    }
}
