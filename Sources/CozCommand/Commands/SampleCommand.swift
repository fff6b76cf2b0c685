// `cozdb sample`: made-up Cozie data as line protocol.

internal import ArgumentParser
internal import CozDB
internal import CozStudy

struct SampleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sample",
        abstract: "Write made-up Cozie data as line protocol to standard output.",
        discussion: """
            For trying things out: heart rate, steps, sleep, surveys, places and notifications of \
            invented participants, late, out of order and partly twice, as the real thing is. The \
            same values give the same bytes.

            Examples:
              cozdb sample --participants 5 --days 3 | cozdb import --db study.cozdb -
              cozdb sample --shape export > influx-export.txt
            """)

    enum Shape: String, CaseIterable, ExpressibleByArgument {
        case points, export
    }

    @Option(help: "How many participants.")
    var participants = 10

    @Option(help: "Length of the study.")
    var days = 7

    @Option(help: "points: one line a row, by arrival; export: as influx_inspect export.")
    var shape = Shape.points

    @Option(help: "Another seed gives other data.")
    var seed: UInt64 = 1

    @Option(help: "Name of the experiment.")
    var experiment = "demo"

    func validate() throws {
        guard (1...10_000).contains(participants), (1...3_650).contains(days) else {
            throw ValidationError("expected 1 to 10000 participants and 1 to 3650 days")
        }
        guard !experiment.isEmpty else { throw ValidationError("the experiment needs a name") }
    }

    func run() throws {
        var data = SampleData()
        data.participants = participants
        data.days = days
        data.shape = shape == .export ? .export : .points
        data.seed = seed
        data.experiment = experiment
        let output = OutputWriter()
        data.write { bytes in
            output.append(bytes)
        }
        try output.flush()
    }
}
