// Options of `cozdb summary` for the sources and the rules of the computation.

internal import ArgumentParser
internal import CozDB
internal import CozStudy

/// An argument that names a case of a library type.
struct Choice<Value: RawRepresentable & CaseIterable & Sendable>: ExpressibleByArgument, Sendable
where Value.RawValue == String {
    var value: Value

    init(_ value: Value) {
        self.value = value
    }

    init?(argument: String) {
        guard let value = Value(rawValue: argument) else { return nil }
        self.value = value
    }

    var defaultValueDescription: String { value.rawValue }

    static var allValueStrings: [String] { Value.allCases.map(\.rawValue) }
}

/// Parses days and durations in arguments.
enum SummaryArgument {
    static func day(_ text: String) throws -> LocalDate {
        guard let day = LocalDate(text) else {
            throw ValidationError("found \"\(text)\", expected a day such as 2025-10-15")
        }
        return day
    }

    static func seconds(_ text: String) throws -> Int {
        guard let nanoseconds = DurationText.nanoseconds(text), nanoseconds >= 0,
            nanoseconds % 1_000_000_000 == 0
        else {
            throw ValidationError(
                "found \"\(text)\", expected a span of whole seconds such as 30s, 5m or 1h")
        }
        return Int(nanoseconds / 1_000_000_000)
    }
}

struct SummarySourceOptions: ParsableArguments {
    enum System: String, CaseIterable, ExpressibleByArgument {
        case auto, bracelet, cozie
    }

    @Option(
        help: """
            bracelet: the bracelet's raw metrics (bpm, last_steps, ...); cozie: what the app sends \
            (ts_heart_rate, else ws_heart_rate, ...); auto: the first of them that is there.
            """)
    var source = System.auto

    @Option(
        help: ArgumentHelp(
            """
            Another field of the summary's main measurement; with METRIC=, of another one. Of \
            several the first with a value counts.
            """,
            valueName: "[metric=]name,name"))
    var field: [String] = []

    @Option(help: ArgumentHelp("The field of its quality.", valueName: "name"))
    var qualityField: String?

    @Option(help: ArgumentHelp("Leave out what is of lower or unknown quality.", valueName: "n"))
    var minQuality: Double?

    @Flag(
        help: """
            Leave out what the bracelet's documentation calls impossible: heart rates outside of \
            30 to 220, breaths 5 to 45, saturations 0 to 100, body temperatures 15 to 45.
            """)
    var possibleOnly = false

    /// - Throws: `usage` if a measurement does not belong to the summary.
    func apply(to request: inout SummaryRequest, _ kind: SummaryKind) throws(DatabaseError) {
        switch source {
        case .auto: break
        case .bracelet: request.sources = [.bracelet]
        case .cozie: request.sources = [.cozie]
        }
        request.qualityMin = minQuality
        request.keepsPossibleValuesOnly = possibleOnly
        for text in field {
            let (metric, names) = try SummarySourceOptions.assignment(text, kind)
            request.fields[metric] = names
        }
        if let qualityField {
            guard let metric = kind.qualityMetric else {
                throw DatabaseError(
                    .usage, "--quality-field: the summary \(kind.rawValue) knows no quality")
            }
            request.fields[metric] = [qualityField]
        }
    }

    private static func assignment(
        _ text: String, _ kind: SummaryKind
    ) throws(DatabaseError) -> (SummaryMetric, [String]) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        var metric = kind.metric
        var names = text[...]
        if parts.count == 2 {
            guard let named = SummaryMetric(rawValue: String(parts[0])),
                kind.metrics.contains(named)
            else {
                let known = kind.metrics.map(\.rawValue)
                throw DatabaseError(
                    .usage,
                    "--field: found the measurement \"\(parts[0])\", expected one of "
                        + known.joined(separator: ", ")
                        + NameSuggestion.text(String(parts[0]), among: known))
            }
            (metric, names) = (named, parts[1])
        }
        let fields = names.split(separator: ",").map(String.init)
        guard !fields.isEmpty else {
            throw DatabaseError(.usage, "--field: found \"\(text)\", expected the name of a field")
        }
        return (metric, fields)
    }
}

struct SummaryRuleOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Length of a slot, a divisor of an hour (default: as the bracelet's app).",
            valueName: "5m"), transform: SummaryArgument.seconds)
    var slot: Int?

    @Option(
        help: """
            slots: average, last and maximum of a day are those of its slots, as in the app; \
            values: those of single values.
            """)
    var over = Choice(SummaryRequest.Basis.slots)

    @Option(
        help: ArgumentHelp(
            "Zones of the heart rate at 50, 60, 70, 80, 90 % of this rate.", valueName: "bpm"))
    var maxHeartRate: Double?

    @Option(help: ArgumentHelp("The same for 220 less this age.", valueName: "years"))
    var age: Double?

    @Option(
        help: ArgumentHelp(
            "Lower limits of warm-up, fat burn, endurance, performance, maximum.",
            valueName: "a,b,c,d,e"))
    var zones: String?

    @Option(help: ArgumentHelp("Height for the length of a step.", valueName: "cm"))
    var height: Double?

    @Option(help: ArgumentHelp("Steps of a day that are 100 %.", valueName: "steps"))
    var goal = 10_000

    @Option(help: ArgumentHelp("Steps that make an hour one of moving.", valueName: "steps"))
    var hourlySteps = 250

    @Option(
        help: ArgumentHelp("Time without sleep that ends a session.", valueName: "1h"),
        transform: SummaryArgument.seconds)
    var sessionGap: Int?

    func validate() throws {
        let ways = [maxHeartRate != nil, age != nil, zones != nil].count { $0 }
        guard ways <= 1 else {
            throw ValidationError("expected one of --max-heart-rate, --age and --zones")
        }
    }

    func apply(to request: inout SummaryRequest) throws(DatabaseError) {
        request.slotSeconds = slot
        request.basis = over.value
        request.stepGoal = goal
        request.hourlySteps = hourlySteps
        if let height { request.heightCentimetres = height }
        if let sessionGap { request.sleepGapSeconds = sessionGap }
        if let maxHeartRate {
            request.zones = try HeartRateZones(maxHeartRate: maxHeartRate)
        } else if let age {
            request.zones = try HeartRateZones(age: age)
        } else if let zones {
            let words = zones.split(separator: ",", omittingEmptySubsequences: false)
            let limits = words.compactMap { Double($0) }
            guard limits.count == words.count else {
                throw DatabaseError(
                    .usage,
                    "--zones: found \"\(zones)\", expected five numbers separated by commas")
            }
            request.zones = try HeartRateZones(limits: limits)
        }
    }

    /// The note about an assumption that affects the numbers because no option sets its value.
    func assumption(_ kind: SummaryKind) -> String? {
        switch kind {
        case .bpm where maxHeartRate == nil && age == nil && zones == nil:
            "note: zones are those of a maximum of 170 beats per minute, as in the bracelet's "
                + "documentation; --max-heart-rate, --age or --zones says otherwise"
        case .steps where height == nil, .activity where height == nil:
            "note: distances are those of somebody of 163 cm, as in the bracelet's documentation; "
                + "--height says otherwise"
        default: nil
        }
    }
}
