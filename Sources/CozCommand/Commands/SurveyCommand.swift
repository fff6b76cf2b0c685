// `cozdb survey`: checks watch surveys, registers them for an experiment, and counts their answers.

internal import ArgumentParser
internal import CozDB
internal import CozStudy

struct SurveyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "survey",
        abstract: "Check watch surveys, register them for an experiment, count their answers.",
        discussion: """
            With files only: checks surveys. Lists errors (invalid JSON, missing parts, duplicate \
            ids) and flaws (an option that leads nowhere, a question that cannot be reached) with \
            line and column, and exits with 64 if there are any. Otherwise prints the questions \
            and options.

            With --db and files: registers surveys, so that cozdb schema and cozdb query \
            --questions show their questions and options. A survey with errors is not registered; \
            one with flaws is.

            With --db and no files: counts the stored answers to each question, both those that \
            are among the options and those that are not. See docs/surveys.md.

            --experiment is optional if the database has only one experiment.

            Examples:
              cozdb survey thermal.json
              cozdb survey --db study.cozdb --experiment dev thermal.json
              cozdb survey --db study.cozdb --experiment dev
            """)

    @OptionGroup var wait: WaitOption

    @Option(
        name: .customLong("db"), help: ArgumentHelp("Directory of the database.", valueName: "dir"),
        completion: .directory)
    var path: String?

    @Option(
        help: ArgumentHelp(
            "The experiment of the survey (default: the only one).", valueName: "name"))
    var experiment: String?

    @Flag(
        help: """
            When registering, keep the options registered earlier for the same question. Use it \
            for a survey that changed during the study.
            """)
    var keepOptions = false

    @Option(help: "Output format: table for people, json for programs.")
    var format = ReportFormat.table

    @Argument(help: "Survey files in JSON; - is standard input.", completion: .file())
    var files: [String] = []

    func validate() throws {
        if path == nil, experiment != nil {
            throw ValidationError(
                "found --experiment without --db, expected both to register, "
                    + "or neither to check files")
        }
        if path?.isEmpty == true {
            throw ValidationError("--db: found an empty path, expected the directory of a database")
        }
        if path == nil, files.isEmpty {
            throw ValidationError(
                "found neither a file nor --db, expected a survey file to check, "
                    + "or --db to count answers")
        }
        if keepOptions, path == nil || files.isEmpty {
            throw ValidationError("found --keep-options without --db and a file, expected both")
        }
    }

    func run() throws {
        guard let path else { return try check() }
        if files.isEmpty { return try count(path) }
        try register(path)
    }

    private func checks() throws(DatabaseError) -> [(file: String, check: SurveyCheck)] {
        var checks: [(file: String, check: SurveyCheck)] = []
        for file in files {
            checks.append((file, SurveyCheck(try InputReader.text(of: file, .survey))))
        }
        return checks
    }

    // MARK: Checking, registering, counting

    private func check() throws {
        let checks = try checks()
        let output = OutputWriter()
        if format == .json {
            output.append(
                JSONValue.array(checks.map { SurveyText.json($0.check, of: $0.file) }).text()
                    + "\n")
        } else {
            for (index, item) in checks.enumerated() {
                if index > 0 { output.append("\n") }
                output.append(SurveyText.table(item.check, of: item.file))
            }
        }
        try output.flush()
        let isClean = checks.allSatisfy { $0.check.count(.error) + $0.check.count(.flaw) == 0 }
        if !isClean { throw ExitStatus.usage.exitCode }
    }

    /// The experiment to register for. The database and the experiment need not exist yet; in that
    /// case `--experiment` is required.
    private func registerExperiment(_ path: String) throws(DatabaseError) -> String {
        if let experiment { return experiment }
        return try Database.withReader(path) { database throws(DatabaseError) in
            try database.snapshot().experiment(nil)
        }
    }

    private func register(_ path: String) throws {
        let checks = try checks()
        for (file, check) in checks {
            for finding in check.findings where finding.severity != .note {
                StandardError.writeLine(
                    "cozdb: " + PlainText.escaped(SurveyText.line(finding, of: file)))
            }
        }
        if let bad = checks.first(where: { !$0.check.isUsable }) {
            throw DatabaseError(
                .usage,
                "found \(PlainText.counted(bad.check.count(.error), "error")), expected a survey "
                    + "without errors. Nothing was registered",
                file: bad.file)
        }
        let adds = keepOptions
        let experiment = try registerExperiment(path)
        let surveys = checks.compactMap(\.check.survey)
        let done = try Database.withWriter(path, creates: true, wait.lock) {
            database throws(DatabaseError) in
            var done: [SurveyRegistration] = []
            for survey in surveys {
                let settings = ExperimentSettings(preset: SchemaPreset.cozieV3.name)
                done.append(
                    try database.register(
                        survey, for: experiment, keepsOptions: adds, settings: settings))
            }
            return done
        }
        let output = OutputWriter()
        for (survey, registration) in zip(surveys, done) {
            output.append(SurveyText.registered(survey, registration, experiment))
        }
        try output.flush()
    }

    private func count(_ path: String) throws {
        let answers = try Database.withReader(path) { database throws(DatabaseError) in
            let experiment = try database.snapshot().experiment(experiment)
            return try database.surveyAnswers(of: experiment)
        }
        let output = OutputWriter()
        if format == .json {
            output.append(JSONValue.array(answers.map(SurveyText.json)).text() + "\n")
        } else {
            output.append(SurveyText.table(answers))
        }
        try output.flush()
    }
}
