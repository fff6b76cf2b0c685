// `cozdb study`: answers the questions that coordinators ask about a running study.

internal import ArgumentParser
internal import CozDB
internal import CozStudy
internal import CozPlatform

struct StudyCommand: ParsableCommand {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case table, csv, json
    }

    static let configuration = CommandConfiguration(
        commandName: "study",
        abstract: "Show the state of a study: responses, goal, silence, delays, availability.",
        discussion: """
            Without a question, the command answers all of them in one report. Each question is \
            one statement of the query language. --show-statements prints the statements instead \
            of running them, in a form for cozdb query --file. docs/study.md explains the \
            questions.

              overview      participants, their first and last data, and how much data
              responses     survey responses per participant and local day
              votes         valid votes: more than 55 minutes after the last valid one
              goal          cumulative responses against the goal
              silence       time since the last response and the last value
              delay         logging delay (_lambda time minus row time) by trigger
              interval      sampling interval per field
              availability  data per participant, field and day

            csv prints one question; json and table print any number.

            Examples:
              cozdb study --db study.cozdb dev --tz Asia/Singapore
              cozdb study --db study.cozdb silence
              cozdb study --db study.cozdb dev responses --days 14 --tz Europe/Helsinki
              cozdb study --db study.cozdb dev votes --format csv > votes.csv
              cozdb study --db study.cozdb dev delay --modality ts_heart_rate
            """)

    @OptionGroup var database: DatabaseOption

    @Argument(help: "The experiment; optional if there is only one.")
    var experiment: String?

    @Argument(help: "The questions to answer (default: all).")
    var questions: [QuestionName] = []

    @Option(
        name: .customLong("experiment"),
        help: ArgumentHelp(
            "The experiment, if its name is also the name of a question.", valueName: "name"))
    var namedExperiment: String?

    @Option(
        name: .customLong("tz"),
        help: ArgumentHelp("Time zone of days, such as Asia/Singapore.", valueName: "zone"))
    var zone = "UTC"

    @Option(
        help: ArgumentHelp(
            "Only this participant; can be repeated.", valueName: "id"))
    var participant: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only data from this day or time on: 2024-03-01, or "
                + "2024-03-01T09:00 in the zone of --tz.",
            valueName: "time"))
    var from: TimeArgument?

    @Option(
        help: ArgumentHelp(
            "Only data before this day or time.", valueName: "time"))
    var to: TimeArgument?

    @Option(
        help: ArgumentHelp("Only the last n days, including today.", valueName: "n"))
    var days: Int?

    @Option(
        help: ArgumentHelp(
            "Responses expected from each participant, instead of their last wss_goal.",
            valueName: "n"))
    var goal: Int?

    @Option(
        help: ArgumentHelp(
            "Minimum time between two valid votes, such as 1h or 90s.", valueName: "duration"))
    var gap = DurationArgument(nanoseconds: 3_300_000_000_000)

    @Option(
        help: ArgumentHelp(
            "Field to use for silence, delay, interval and availability; can be repeated.",
            valueName: "field"))
    var modality: [String] = []

    @Option(
        help: ArgumentHelp("The field that marks a row as a response.", valueName: "field"))
    var survey = StudyOptions(now: Timestamp(nanoseconds: 0)).surveyField

    @Option(help: ArgumentHelp("The tag that names participants.", valueName: "tag"))
    var participantTag: String?

    @Flag(help: "Report delay and interval per participant instead of for all participants.")
    var byParticipant = false

    @Option(
        help: ArgumentHelp(
            "Use this time as now instead of the current time. Without an offset it is in --tz.",
            valueName: "time"))
    var now: TimeArgument?

    @Option(help: "Output format: a report for people (table), csv or json for programs.")
    var format = Format.table

    @OptionGroup var cells: SpreadsheetOptions

    @Option(
        help: ArgumentHelp(
            "Width of the report in columns (default: as the terminal, 100 without one).",
            valueName: "n"))
    var width: Int?

    @Flag(help: "Draw with ASCII characters; the default if the locale is not UTF-8.")
    var ascii = false

    @Flag(help: "Print the statements instead of running them.")
    var showStatements = false

    func validate() throws {
        try cells.check(isCSV: format == .csv)
        if days != nil, from != nil {
            throw ValidationError("found both --days and --from, expected one of them")
        }
        if let days, !(1...100_000).contains(days) {
            throw ValidationError("--days: found \(days), expected 1 to 100000")
        }
        if let goal, goal < 1 {
            throw ValidationError("--goal: found \(goal), expected 1 or more")
        }
        if let width, !(40...10_000).contains(width) {
            throw ValidationError("--width: found \(width), expected 40 to 10000")
        }
        if let experiment, let namedExperiment, QuestionName(argument: experiment) == nil {
            throw ValidationError(
                "found \"\(experiment)\" next to --experiment \(namedExperiment), "
                    + "expected only questions")
        }
        if format == .csv, subjects.count != 1, !showStatements {
            let names = QuestionName.allValueStrings.joined(separator: ", ")
            throw ValidationError(
                "--format csv: found \(subjects.count) questions, expected one: \(names)")
        }
    }

    func run() throws {
        let output = OutputWriter()
        try Database.withReader(database.path) { database throws(DatabaseError) in
            let snapshot = try database.snapshot()
            let experiment = try snapshot.experiment(
                namedExperiment ?? (isQuestionFirst ? nil : experiment))
            let study = try Study(snapshot, experiment: experiment, options: try options())
            if showStatements {
                printStatements(study, output)
            } else {
                try answer(study, output)
            }
        }
        try output.flush()
    }

    private func options() throws(DatabaseError) -> StudyOptions {
        let rules = try TimeZoneRules(named: zone)
        var options = StudyOptions(now: now?.time(in: rules) ?? .now)
        options.query.isCancelled = { Signals.isInterrupted }
        options.zone = zone
        options.participants = participant
        options.modalities = modality
        options.surveyField = survey
        options.goal = goal
        options.minGap = .nanoseconds(gap.nanoseconds)
        options.isByParticipant = byParticipant
        options.participantTag = participantTag
        options.from = from?.time(in: rules)
        options.until = to?.time(in: rules)
        if let days {
            let today = rules.date(at: options.query.currentTime)
            options.from = rules.start(of: today.advanced(by: 1 - days))
            if to == nil { options.until = rules.start(of: today.advanced(by: 1)) }
        }
        if let from = options.from, let until = options.until, from >= until {
            throw DatabaseError(
                .usage,
                "the time range is empty: found start \(rules.text(from)) and end "
                    + "\(rules.text(until)), expected a start before the end")
        }
        return options
    }

    /// Whether the first argument is a question instead of an experiment.
    private var isQuestionFirst: Bool {
        experiment.map { QuestionName(argument: $0) != nil } ?? false
    }

    private var subjects: [QuestionName] {
        (isQuestionFirst ? [experiment.flatMap(QuestionName.init)].compactMap(\.self) : [])
            + questions
    }

    /// The chosen questions, each once, in the order of the report.
    private var asked: [StudyQuestion] {
        let subjects = self.subjects
        return subjects.isEmpty
            ? StudyQuestion.allCases
            : StudyQuestion.allCases.filter { one in
                subjects.contains { $0.question == one }
            }
    }

    private func printStatements(_ study: Study, _ output: OutputWriter) {
        for question in asked {
            output.append("-- \(question.rawValue)\n")
            let statement = study.statement(of: question).map { "\($0);" }
            output.append(
                (statement ?? "-- no statement: the experiment has no field for this question")
                    + "\n")
        }
    }

    private func answer(_ study: Study, _ output: OutputWriter) throws(DatabaseError) {
        let style = ReportStyle(
            glyphs: Glyphs.forOutput(isASCII: ascii) { name in
                // Sound: the string lives until the environment changes, and nothing changes it.
                guard let text = unsafe getenv(name) else { return nil }
                return unsafe String(cString: text)
            },
            width: width ?? Terminal.columns(STDOUT_FILENO) ?? 100, zone: study.zone)
        var sections: [StudySection] = []
        for question in asked {
            try DatabaseError.checkInterrupt()
            do throws(DatabaseError) {
                sections.append(try StudySection.answer(question, study, style))
            } catch {
                var error = error
                if asked.count > 1 { error.message = "\(question.rawValue): \(error.message)" }
                throw error
            }
        }
        switch format {
        case .csv:
            for section in sections {
                section.appendCSV(cells.style, to: output)
                if let note = section.note {
                    StandardError.writeLine("cozdb: \(PlainText.escaped(note))")
                }
            }
        case .json: StudyReport.appendJSON(sections, study, to: output)
        case .table: try StudyReport.appendText(sections, study, to: output)
        }
    }
}
