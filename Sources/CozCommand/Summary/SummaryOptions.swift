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
                "found \"\(text)\", expected a duration in whole seconds such as 30s, 5m or 1h")
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
            bracelet: raw metrics of the bracelet (bpm, last_steps, ...); cozie: data of the Cozie \
            app (ts_heart_rate, otherwise ws_heart_rate, ...); auto: the first source that has \
            data.
            """)
    var source = System.auto

    @Option(
        help: ArgumentHelp(
            """
            Use another field for the main measurement of the summary, or with METRIC= for another \
            measurement. If several fields are given, the first one with a value is used.
            """,
            valueName: "[metric=]name,name"))
    var field: [String] = []

    @Option(help: ArgumentHelp("The field with the quality of the measurement.", valueName: "name"))
    var qualityField: String?

    @Option(help: ArgumentHelp("Ignore values with a lower or unknown quality.", valueName: "n"))
    var minQuality: Double?

    @Flag(
        help: """
            Ignore values that the documentation of the bracelet calls impossible: heart rates \
            outside 30 to 220, breathing rates outside 5 to 45, saturations outside 0 to 100, body \
            temperatures (core) outside 15 to 45.
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
                    .usage,
                    "found --quality-field with the summary \(kind.rawValue), which has no "
                        + "quality; expected another summary")
            }
            request.fields[metric] = [qualityField]
        }
    }

    private static func assignment(
        _ text: String, _ kind: SummaryKind
    ) throws(DatabaseError) -> (SummaryMetric, [String]) {
        let parts = text.parts(separatedBy: "=", maxSplits: 1)
        var metric = kind.metric
        var names = text
        if parts.count == 2 {
            guard let named = SummaryMetric(rawValue: parts[0]),
                kind.metrics.contains(named)
            else {
                let known = kind.metrics.map(\.rawValue)
                throw DatabaseError(
                    .usage,
                    "--field: found the measurement \"\(parts[0])\", expected one of "
                        + known.joined(separator: ", ")
                        + NameSuggestion.text(parts[0], among: known))
            }
            (metric, names) = (named, parts[1])
        }
        let fields = names.parts(separatedBy: ",", keepsEmpty: false)
        guard !fields.isEmpty else {
            throw DatabaseError(.usage, "--field: found \"\(text)\", expected a field name")
        }
        return (metric, fields)
    }
}

struct SummaryRuleOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Length of a slot, which must divide an hour (default: as in the bracelet's app).",
            valueName: "5m"), transform: SummaryArgument.seconds)
    var slot: Int?

    @Option(
        help: """
            slots: compute average, last and maximum of a day from its slots, as the app does; \
            values: compute them from single values.
            """)
    var over = Choice(SummaryRequest.Basis.slots)

    @Option(
        help: ArgumentHelp(
            "Maximum heart rate; zones start at 50, 60, 70, 80 and 90 % of it.", valueName: "bpm"))
    var maxHeartRate: Double?

    @Option(
        help: ArgumentHelp("Age; the maximum heart rate is 220 minus the age.", valueName: "years"))
    var age: Double?

    @Option(
        help: ArgumentHelp(
            "Lower limits of the zones warm-up, fat burn, endurance, performance and maximum.",
            valueName: "a,b,c,d,e"))
    var zones: String?

    @Option(help: ArgumentHelp("Body height, which determines the step length.", valueName: "cm"))
    var height: Double?

    @Option(help: ArgumentHelp("Steps per day that count as 100 %.", valueName: "steps"))
    var goal = 10_000

    @Option(
        help: ArgumentHelp(
            "Steps per hour from which the hour counts as active.", valueName: "steps"))
    var hourlySteps = 250

    @Option(
        help: ArgumentHelp("Time without sleep that ends a session.", valueName: "1h"),
        transform: SummaryArgument.seconds)
    var sessionGap: Int?

    func validate() throws {
        let ways = [maxHeartRate != nil, age != nil, zones != nil].count { $0 }
        guard ways <= 1 else {
            throw ValidationError(
                "found several of --max-heart-rate, --age and --zones, expected at most one")
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
            let words = zones.parts(separatedBy: ",")
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
            "note: zones assume a maximum heart rate of 170 beats per minute, as in the "
                + "documentation of the bracelet; set it with --max-heart-rate, --age or --zones"
        case .steps where height == nil, .activity where height == nil:
            "note: distances assume a height of 163 cm, as in the documentation of the bracelet; "
                + "set it with --height"
        default: nil
        }
    }
}
