// Options of `import` for Beiwe exports only.

internal import ArgumentParser
internal import CozStudy

struct BeiweImportOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The stream of Beiwe files that lie in no folder of one and whose header does not tell, \
            such as accelerometer.
            """,
            valueName: "name"))
    var stream: String?

    func validate() throws {
        if stream?.isEmpty == true { throw ValidationError("--stream needs a name") }
    }

    var options: BeiweOptions {
        var options = BeiweOptions()
        options.stream = stream
        return options
    }
}
