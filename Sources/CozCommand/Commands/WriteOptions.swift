// Options of `import` and `write` for the settings of new experiments and the reading of lines.

internal import ArgumentParser
internal import CozDB
internal import CozImport

struct WriteOptions: ParsableArguments {
    enum Types: String, CaseIterable, ExpressibleByArgument {
        case lossless, strict
    }

    enum Preset: String, CaseIterable, ExpressibleByArgument {
        case cozieV3 = "cozie-v3"
        case braceletRaw = "bracelet-raw"
        case none
    }

    @Option(help: "Unit of timestamps in the input.")
    var precision = TimeUnit.ns

    @Option(
        help: ArgumentHelp(
            """
            What tells rows of a new experiment apart, beside time: the participant (default), all \
            tags (as InfluxDB), or the tags named.
            """,
            valueName: "participant|all|tag,tag"))
    var identity: String?

    @Option(
        help: ArgumentHelp(
            "The tag that names the participant (default: id_participant).", valueName: "tag"))
    var participantTag: String?

    @Option(help: ArgumentHelp("The participant of all lines that lack that tag.", valueName: "id"))
    var participant: String?

    @Option(
        help: """
            lossless (default): a number of another type is stored if it stays the same number; \
            strict: InfluxDB's rule, a conflict refuses the point.
            """)
    var types: Types?

    @Option(
        help: """
            Fields whose types and units a new experiment knows before the first value (default: \
            cozie-v3 for the formats cozie-json and cozie-csv, else none).
            """)
    var preset: Preset?

    @Option(
        help: ArgumentHelp(
            "The time of lines without one, instead of the clock's.", valueName: "time"))
    var now: ClockTime?

    func validate() throws {
        if let identity, identity.isEmpty || identity.split(separator: ",").isEmpty {
            throw ValidationError("--identity: expected participant, all or names of tags")
        }
        if participantTag != nil, let identity, identity != "participant" {
            throw ValidationError(
                "--participant-tag belongs to --identity participant, found \(identity)")
        }
    }

    static let standardParticipantTag = "id_participant"

    var settings: ExperimentSettings {
        var settings = ExperimentSettings()
        switch identity {
        case nil:
            if let participantTag { settings.identity = .participant(tag: participantTag) }
        case "participant":
            settings.identity = .participant(
                tag: participantTag ?? WriteOptions.standardParticipantTag)
        case "all": settings.identity = .allTags
        case let tags?: settings.identity = .tags(tags.split(separator: ",").map(String.init))
        }
        settings.typeRule = types.map { $0 == .strict ? .strict : .lossless }
        settings.preset = preset?.rawValue
        return settings
    }

    var clock: Timestamp { now?.time ?? ClockTime.current }
}
