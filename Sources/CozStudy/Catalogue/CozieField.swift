// One field of Cozie data, as CozieCatalogue describes it.

public import CozDB

/// What is known of a field of Cozie data.
public struct CozieField: Sendable {
    /// When the app sends values of a field. The stars are those of Cozie's documentation.
    public enum LoggingRate: String, Sendable, CaseIterable {
        /// When the iPhone app is opened or used, and in background tasks.
        case phoneApp = "*"
        /// When a watch survey is submitted.
        case survey = "**"
        /// When the phone has moved.
        case locationChange = "***"
        /// With every row.
        case row
        /// When settings change or a sync button is pressed.
        case sync
        /// When a push notification comes or is answered.
        case push
        /// Documented, but never sent.
        case never

        /// The same in words.
        public var meaning: String {
            switch self {
            case .phoneApp: "when the iPhone app is opened or used"
            case .survey: "when a watch survey is submitted"
            case .locationChange: "when the phone has moved"
            case .row: "with every row"
            case .sync: "when a sync button of the iPhone app is pressed"
            case .push: "when a push notification comes or is answered"
            case .never: "never: documented, but not sent"
            }
        }
    }

    /// Which device sends a field.
    public enum Device: String, Sendable, CaseIterable {
        /// The phone; what it sends may be measured by the watch.
        case iphone
        /// The watch, with a survey.
        case watch
        /// Phone and watch.
        case both
        /// None: the backend adds it.
        case server
        /// None: a study wrote it.
        case study

        /// The same in words.
        public var meaning: String {
            switch self {
            case .iphone: "iPhone"
            case .watch: "Apple Watch"
            case .both: "iPhone and Apple Watch"
            case .server: "none, the backend adds it"
            case .study: "none, a study wrote it"
            }
        }
    }

    /// How the backend says, in a field beside this one, when it stored a value.
    public enum ArrivalForm: String, Sendable, CaseIterable {
        /// `<name>_lambda`, a string such as `2024-05-01T07:02:51.578123Z`.
        case text
        /// `<name>_lambda_ms`, a float: milliseconds since 1970 UTC. Since August 2025.
        case milliseconds = "ms"
    }

    /// As points name it. In a pattern one `*` stands for any letters: `q_*`.
    public var name: String
    /// The type that fits what is sent; nil for the time of the row, which is no field.
    public var type: FieldType?
    /// Unit of the values, such as `count/min`; empty where they have none.
    public var unit: String
    /// When it is sent.
    public var rate: LoggingRate
    /// How often it is measured, such as `3-6min`; empty where that is unknown or irregular.
    public var interval: String
    /// Which device sends it.
    public var device: Device
    /// In what forms its arrival is stored beside it; empty: in none. Where it is, what made the
    /// app send the value is in `<name>_trigger`.
    public var arrivals: [ArrivalForm]
    /// What it is, in a sentence or two.
    public var meaning = ""
    /// Its names in Cozie 2.
    public var namesInV2: [String] = []
    /// Other names it had, such as misspelt ones.
    public var formerNames: [String] = []
    /// Types and rates in Cozie's documentation that say something else than `type` and `rate`.
    public var documentedAs: [String] = []

    /// The pattern that stands for it in the catalogue; nil where it has an entry of its own.
    public internal(set) var pattern: String?

    /// Whether it stands for all fields whose names match.
    public var isPattern: Bool { name.utf8.contains(UInt8(ascii: "*")) }

    /// The prefix that tells what a field is about, without its underscore: `ts`, `ws`, `q`;
    /// `row` for fields without one of these.
    public var group: String {
        CozieField.groups.first { name.utf8.starts(with: "\($0)_".utf8) } ?? "row"
    }

    private static let groups = [
        "api", "app", "id", "pss", "q", "si", "ts", "ws", "wss", "notification", "action",
    ]

    /// All values of `group`.
    public static let allGroups = groups + ["row"]

    /// The fields that the backend adds beside it.
    public var companions: [CozieField] {
        var result = arrivals.map { form in
            companion(
                form == .text ? "_lambda" : "_lambda_ms", form == .text ? .string : .float,
                unit: form == .text ? "" : "ms",
                form == .text
                    ? "When the backend stored \(name), UTC, as text."
                    : "When the backend stored \(name), since 1970 UTC.")
        }
        if !arrivals.isEmpty {
            result.append(
                companion("_trigger", .string, unit: "", "What made the app send \(name)."))
        }
        return result
    }

    private func companion(
        _ suffix: String, _ type: FieldType, unit: String, _ meaning: String
    ) -> CozieField {
        var field = CozieField(
            name: name + suffix, type: type, unit: unit, rate: rate, interval: interval,
            device: .server, arrivals: [])
        field.meaning = meaning
        return field
    }
}
