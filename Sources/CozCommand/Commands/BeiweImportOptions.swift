// Options of `import` for Beiwe exports only.

internal import ArgumentParser
internal import CozStudy

struct BeiweImportOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The stream of Beiwe files that are not in a folder named after a stream and whose \
            header does not identify it, such as accelerometer.
            """,
            valueName: "name"))
    var stream: String?

    func validate() throws {
        if stream?.isEmpty == true {
            throw ValidationError(
                "--stream: found an empty name, expected a stream such as accelerometer")
        }
    }

    var options: BeiweOptions {
        var options = BeiweOptions()
        options.stream = stream
        return options
    }
}
