// `cozdb sample`: writes made-up data, either Cozie line protocol or a folder of a Beiwe export.

internal import ArgumentParser
internal import CozDB
internal import CozStudy

struct SampleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sample",
        abstract: "Write made-up data: Cozie's to standard output, Beiwe's to a folder.",
        discussion: """
            For trying things out: heart rate, steps, sleep, surveys, places and notifications of \
            invented participants, late, out of order and partly twice, as the real thing is. The \
            same values give the same bytes.

            --shape beiwe writes an export of the Beiwe app into a new folder: accelerometer, GPS, \
            power state and surveys in hourly files.

            Examples:
              cozdb sample --participants 5 --days 3 | cozdb import --db study.cozdb -
              cozdb sample --shape export > influx-export.txt
              cozdb sample --shape beiwe --participants 2 --days 1 --output export
            """)

    enum Shape: String, CaseIterable, ExpressibleByArgument {
        case points, export, beiwe
    }

    @Option(help: "How many participants.")
    var participants = 10

    @Option(help: "Length of the study.")
    var days = 7

    @Option(
        help: """
            points: one line a row, by arrival; export: as influx_inspect export; beiwe: an export \
            of Beiwe, in a folder.
            """)
    var shape = Shape.points

    @Option(help: "Another seed gives other data.")
    var seed: UInt64 = 1

    @Option(help: "Name of the experiment.")
    var experiment = "demo"

    @Option(
        help: ArgumentHelp("A new folder, for --shape beiwe.", valueName: "dir"),
        completion: .directory)
    var output: String?

    func validate() throws {
        guard (shape == .beiwe) == (output != nil) else {
            throw ValidationError("--shape beiwe and --output belong together")
        }
        guard (1...10_000).contains(participants), (1...3_650).contains(days) else {
            throw ValidationError("expected 1 to 10000 participants and 1 to 3650 days")
        }
        guard !experiment.isEmpty else { throw ValidationError("the experiment needs a name") }
    }

    func run() throws {
        guard let output else { return try writePoints() }
        var sample = BeiweSample()
        sample.participants = participants
        sample.days = days
        sample.seed = seed
        var folder = try FolderOutput(output)
        try sample.write { (path, bytes) throws(DatabaseError) in
            try folder.write(bytes, to: path)
        }
    }

    private func writePoints() throws {
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
