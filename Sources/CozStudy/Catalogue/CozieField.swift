// One field of Cozie data in the catalogue.

public import CozDB

/// The description of a field of Cozie data.
public struct CozieField: Sendable {
    /// When the app sends a field. The stars are those of Cozie's documentation.
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
        /// When a push notification arrives or is answered.
        case push
        /// Documented, but never sent.
        case never

        /// The rate in words.
        public var meaning: String {
            switch self {
            case .phoneApp: "when the iPhone app is opened or used"
            case .survey: "when a watch survey is submitted"
            case .locationChange: "when the phone has moved"
            case .row: "with every row"
            case .sync: "when a sync button of the iPhone app is pressed"
            case .push: "when a push notification arrives or is answered"
            case .never: "never (documented, but not sent)"
            }
        }
    }

    /// The device that sends a field.
    public enum Device: String, Sendable, CaseIterable {
        /// The phone. The watch may have measured the value.
        case iphone
        /// The watch, with a survey.
        case watch
        /// The phone and the watch.
        case both
        /// No device: the backend adds the field.
        case server
        /// No device: a study wrote the field.
        case study

        /// The device in words.
        public var meaning: String {
            switch self {
            case .iphone: "iPhone"
            case .watch: "Apple Watch"
            case .both: "iPhone and Apple Watch"
            case .server: "none (added by the backend)"
            case .study: "none (written by a study)"
            }
        }
    }

    /// How the backend stores the arrival time of a value in a companion field.
    public enum ArrivalForm: String, Sendable, CaseIterable {
        /// `<name>_lambda`, a string such as `2024-05-01T07:02:51.578123Z`.
        case text
        /// `<name>_lambda_ms`, a float: milliseconds since 1970 UTC. Since August 2025.
        case milliseconds = "ms"
    }

    /// The name in points. In a pattern such as `q_*` one `*` matches any characters.
    public var name: String
    /// The type of the values sent. Nil for the time of the row, which is not a field.
    public var type: FieldType?
    /// The unit of the values, such as `count/min`. Empty if they have none.
    public var unit: String
    /// When the field is sent.
    public var rate: LoggingRate
    /// How often the field is measured, such as `3-6min`. Empty if unknown or irregular.
    public var interval: String
    /// The device that sends the field.
    public var device: Device
    /// How its arrival time is stored. Empty if it is not. If it is, `<name>_trigger` also stores
    /// what made the app send the value.
    public var arrivals: [ArrivalForm]
    /// The meaning in one or two sentences.
    public var meaning = ""
    /// Its names in Cozie 2.
    public var namesInV2: [String] = []
    /// Other former names, such as misspelled ones.
    public var formerNames: [String] = []
    /// Types and rates in Cozie's documentation that differ from `type` and `rate`.
    public var documentedAs: [String] = []

    /// The catalogue pattern that matched. Nil if the field has its own entry.
    public internal(set) var pattern: String?

    /// Whether the entry describes all fields whose names match a pattern.
    public var isPattern: Bool { name.utf8.contains(UInt8(ascii: "*")) }

    /// The prefix of the name without the underscore, such as `ts`, `ws` or `q`. `row` for fields
    /// without a known prefix.
    public var group: String {
        CozieField.groups.first { name.utf8.starts(with: "\($0)_".utf8) } ?? "row"
    }

    private static let groups = [
        "api", "app", "id", "pss", "q", "si", "ts", "ws", "wss", "notification", "action",
    ]

    /// All values of `group`.
    public static let allGroups = groups + ["row"]

    /// The fields that the backend adds for this field.
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
