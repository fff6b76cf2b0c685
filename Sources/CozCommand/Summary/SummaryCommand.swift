// `cozdb summary`: computes the nine daily summaries of the bracelet's app.

internal import ArgumentParser
internal import CozDB
internal import CozStudy

struct SummaryCommand: ParsableCommand {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case json, table, csv
    }

    static let configuration = CommandConfiguration(
        commandName: "summary",
        abstract: "Compute daily summaries: heart rate zones, steps, sleep and others.",
        discussion: """
            Computes the summaries of the bracelet's app from its raw metrics or from Cozie data; \
            docs/bracelet.md has the formulas. JSON uses the names of the app. It is an object for \
            one day, and an array for --days, --to, several participants, and for sleep, with one \
            object per session that ends on the day. A day begins at local midnight.

            Examples:
              cozdb summary bpm --db study.cozdb --participant p01 --day 2025-10-15 \\
                --tz Asia/Singapore --age 34
              cozdb summary sleep --db study.cozdb --participant p01 --day 2025-10-15 \\
                --days 7 --format table
              cozdb summary steps --db study.cozdb --all-participants --day 2025-10-01 \\
                --to 2025-10-31 --height 170 --format csv > steps.csv
              cozdb summary spo2 --db study.cozdb --participant p01 --day 2025-10-15 \\
                --field my_saturation
            """)

    @Argument(help: ArgumentHelp("Kind of summary.", valueName: "kind"))
    private var choice: Choice<SummaryKind>

    @OptionGroup var database: DatabaseOption

    @Option(help: ArgumentHelp("The experiment (default: the only one).", valueName: "name"))
    var experiment: String?

    @Option(help: ArgumentHelp("The participant; can be repeated.", valueName: "id"))
    var participant: [String] = []

    @Flag(help: "Summaries of all participants that have data.")
    var allParticipants = false

    @Option(
        help: ArgumentHelp("The local day, or the first of several.", valueName: "2025-10-15"),
        transform: SummaryArgument.day)
    var day: LocalDate

    @Option(help: ArgumentHelp("Number of days.", valueName: "n"))
    var days: Int?

    @Option(
        help: ArgumentHelp("The last day.", valueName: "2025-10-31"),
        transform: SummaryArgument.day)
    var to: LocalDate?

    @Option(help: ArgumentHelp("Time zone of local days.", valueName: "zone"))
    var tz = "UTC"

    @OptionGroup(title: "Data sources") var source: SummarySourceOptions
    @OptionGroup(title: "Rules") var rules: SummaryRuleOptions

    @Option(help: "Output format: json with everything, table for people, csv for programs.")
    var format = Format.json

    @OptionGroup var cells: SpreadsheetOptions

    @Flag(help: "Print slots instead of days or sessions; for table and csv.")
    var slots = false

    @Option(
        help: ArgumentHelp(
            "Use this time instead of the current time to decide whether a day is over.",
            valueName: "time"))
    var now: ClockTime?

    func validate() throws {
        try cells.check(isCSV: format == .csv)
        guard participant.isEmpty == allParticipants else {
            throw ValidationError(
                "found neither or both of --participant and --all-participants, "
                    + "expected one of them")
        }
        guard days == nil || to == nil else {
            throw ValidationError("found both --days and --to, expected one of them")
        }
        if let to, to < day {
            throw ValidationError("--to: found \(to), expected \(day) or later")
        }
        if slots, format == .json {
            throw ValidationError(
                "--slots: found --format json, which always has slots; "
                    + "expected --format table or csv")
        }
    }

    func run() throws {
        let summaries = try Database.withReader(database.path) {
            database throws(DatabaseError) in
            let snapshot = try database.snapshot()
            return try SummaryAnswer(kind, BraceletSummaries(snapshot, request(snapshot)))
        }
        if let note = rules.assumption(kind) { StandardError.writeLine("cozdb: \(note)") }
        let ofMany = allParticipants || participant.count > 1
        try summaries.write(
            format,
            .init(
                isList: kind == .sleep || days != nil || to != nil || ofMany,
                namesParticipants: ofMany, showsSlots: slots, cells: cells.style))
    }

    private var kind: SummaryKind { choice.value }

    private func request(_ snapshot: DatabaseSnapshot) throws(DatabaseError) -> SummaryRequest {
        let schema = try snapshot.experiment(experiment)
        var request = SummaryRequest(
            experiment: schema, participants: participant, firstDay: day,
            zone: try TimeZoneRules(named: tz), now: now?.time ?? .now)
        request.dayCount = days ?? to.map { $0.dayNumber - day.dayNumber + 1 } ?? 1
        request.isCancelled = { Signals.isInterrupted }
        try source.apply(to: &request, kind)
        try rules.apply(to: &request)
        return request
    }
}
