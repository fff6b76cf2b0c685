// Options of `import` and `write` that say what new experiments are like and how lines are read.

internal import ArgumentParser
internal import CozDB
internal import CozImport

struct WriteOptions: ParsableArguments {
    enum Types: String, CaseIterable, ExpressibleByArgument {
        case lossless, strict
    }

    enum Preset: String, CaseIterable, ExpressibleByArgument {
        case cozieV3 = "cozie-v3"
        case none
    }

    enum Precision: String, CaseIterable, ExpressibleByArgument {
        case ns, us, ms, s, m, h

        var unit: TimestampPrecision { TimestampPrecision(name: rawValue) ?? .nanoseconds }
        var nanoseconds: Int64 { unit.nanoseconds }
    }

    @Option(help: "Unit of timestamps in the input: ns, us, ms, s, m or h.")
    var precision = Precision.ns

    @Option(
        help: ArgumentHelp(
            "What makes a row of a new experiment: participant, all (tags, as InfluxDB), or tags.",
            valueName: "participant|all|tag,tag"))
    var identity: String?

    @Option(help: ArgumentHelp("The tag that names the participant.", valueName: "tag"))
    var participantTag: String?

    @Option(help: ArgumentHelp("The participant of lines without that tag.", valueName: "id"))
    var participant: String?

    @Option(
        help: "lossless: numbers of another type are stored if nothing is lost; strict: InfluxDB.")
    var types: Types?

    @Option(help: "Fields whose types are locked before the first value: cozie-v3 or none.")
    var preset: Preset?

    @Option(help: ArgumentHelp("Replaces the clock for lines without a time.", valueName: "time"))
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
