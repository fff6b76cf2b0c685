// `cozdb sample`: writes made-up data, either Cozie line protocol or a folder of a Beiwe export.

internal import ArgumentParser
internal import CozDB
internal import CozStudy

struct SampleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sample",
        abstract: "Write made-up data: Cozie data to standard output, or Beiwe data to a folder.",
        discussion: """
            The data is for trying things out: heart rate, steps, sleep, surveys, places and \
            notifications of invented participants. As in real studies, it is late, out of order \
            and partly duplicated. The same options give the same bytes. A participant takes about \
            0.2 MB of memory per day.

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

    @Option(help: "Number of participants.")
    var participants = 10

    @Option(help: "Length of the study in days.")
    var days = 7

    @Option(
        help: """
            points: one line per row, by arrival; export: as influx_inspect export; beiwe: a Beiwe \
            export in a folder.
            """)
    var shape = Shape.points

    @Option(help: "Seed of the random numbers; another seed gives other data.")
    var seed: UInt64 = 1

    @Option(help: "Name of the experiment.")
    var experiment = "demo"

    @Option(
        help: ArgumentHelp("The folder to create, for --shape beiwe.", valueName: "dir"),
        completion: .directory)
    var output: String?

    func validate() throws {
        guard (shape == .beiwe) == (output != nil) else {
            throw ValidationError(
                "found only one of --shape beiwe and --output, expected both or neither")
        }
        guard (1...10_000).contains(participants), (1...3_650).contains(days) else {
            throw ValidationError(
                "found \(participants) participants and \(days) days, expected 1 to 10000 "
                    + "participants and 1 to 3650 days")
        }
        guard !experiment.isEmpty else {
            throw ValidationError(
                "--experiment: found an empty name, expected the name of an experiment")
        }
        guard LineText.canRepresent(experiment: experiment) else {
            throw ValidationError(
                "--experiment: found \(experiment.debugDescription), expected a name that line "
                    + "protocol can represent")
        }
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
