// Whether costs stay what they are when the data grows: of a row, of opening, and of questions that
// are about one participant.

internal import CozDB
internal import CozImport

enum ScaleWorkload {
    private struct Costs {
        /// Seconds of processor of one point.
        var time: Double
        /// Bytes at rest of one row.
        var size: Double
        /// Seconds until it is open for reading.
        var opening: Double
        /// Seconds of each question about one participant.
        var questions: [(name: String, seconds: Double)]
    }

    /// Questions about one participant whose answers do not grow with the data.
    private static let ofOneParticipant = ["Q2", "Q6", "Q7"]

    /// - Parameter directory: where the two databases go.
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
        let time = run.processorSeconds / points
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
