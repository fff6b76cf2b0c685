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

    @Option(help: "Unit of the timestamps in the input.")
    var precision = TimeUnit.ns

    @Option(
        help: ArgumentHelp(
            """
            What identifies a row of a new experiment, in addition to its time: the participant \
            (default), all tags (as in InfluxDB), or the given tags.
            """,
            valueName: "participant|all|tag,tag"))
    var identity: String?

    @Option(
        help: ArgumentHelp(
            "The tag that names the participant (default: id_participant).", valueName: "tag"))
    var participantTag: String?

    @Option(help: ArgumentHelp("The participant of lines without that tag.", valueName: "id"))
    var participant: String?

    @Option(
        help: """
            lossless (default): store a number of another type if its value stays the same \
            (integers up to 2^53); strict: refuse the point, as InfluxDB does.
            """)
    var types: Types?

    @Option(
        help: """
            Declare the types and units of known fields for a new experiment (default: cozie-v3 \
            for the formats cozie-json and cozie-csv, otherwise none).
            """)
    var preset: Preset?

    @Option(
        help: ArgumentHelp(
            "The time of lines without one, instead of the current time.", valueName: "time"))
    var now: ClockTime?

    func validate() throws {
        if let identity, identity.parts(separatedBy: ",", keepsEmpty: false).isEmpty {
            throw ValidationError(
                "--identity: found \"\(identity)\", expected participant, all or tag names")
        }
        if participantTag != nil, let identity, identity != "participant" {
            throw ValidationError(
                "found --participant-tag with --identity \(identity), "
                    + "expected --identity participant")
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
        case let tags?:
            settings.identity = .tags(tags.parts(separatedBy: ",", keepsEmpty: false))
        }
        settings.typeRule = types.map { $0 == .strict ? .strict : .lossless }
        settings.preset = preset?.rawValue
        return settings
    }

    var clock: Timestamp { now?.time ?? .now }
}
