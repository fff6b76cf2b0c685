// The data streams of Beiwe: their columns with type, unit and meaning. Data only.
//
// Source: the server's reference headers (onnela-lab/beiwe-backend,
// constants/data_processing_constants.py and data_stream_constants.py, as of 2026-03), the Beiwe
// wiki's "iOS Sensors" of 2016-08-08, and the rows in forest's docs/source/passive-data.md. Where
// the wiki and the data differ, this table follows the data.

public import CozDB

/// A data stream: one kind of file in a Beiwe export.
public struct BeiweStream: Sendable {
    /// The name of its folder in an export, and of its experiment in the database.
    public let name: String
    /// The name of its folder on the phone and in raw uploads, if different.
    public let uploadName: String?
    /// The known columns in the order of iOS, without time and participant.
    public let columns: [SchemaPreset.Field]

    /// All streams: first those of iOS, then those that only Android has.
    public static let all = motion + places + states + surveys + devices + android

    /// Returns the stream with this folder name, or nil if there is none.
    ///
    /// - Parameter folder: the name in exports or in raw uploads.
    public static func named(_ folder: String) -> BeiweStream? {
        byName[folder]
    }

    private static let byName: [String: BeiweStream] = {
        var streams: [String: BeiweStream] = [:]
        // The import creates survey_questions; it has no folder.
        for stream in all where stream.name != surveyQuestions.name {
            streams[stream.name] = stream
            if let name = stream.uploadName { streams[name] = stream }
        }
        return streams
    }()

    /// The preset for experiments of this stream: types, units and notes of its fields. Its name is
    /// `beiwe-` followed by the name of the stream.
    public var preset: SchemaPreset {
        SchemaPreset(name: "beiwe-\(name)", fields: columns)
    }

    init(_ name: String, upload: String? = nil, _ columns: [SchemaPreset.Field]) {
        self.name = name
        uploadName = upload
        self.columns = columns
    }
}

extension SchemaPreset {
    /// One preset per Beiwe stream: `beiwe-gps`, `beiwe-accelerometer` and so on. A single preset
    /// is impossible, because streams use the same column name with different types (`accuracy` is
    /// a distance in one and a word in another).
    public static let beiwe = BeiweStream.all.map(\.preset)
}

// MARK: Tables

extension BeiweStream {
    private static let anyText = "free text: the words differ by phone and version of the app"

    private static let motion = [
        BeiweStream(
            "accelerometer", upload: "accel",
            [
                .init(
                    "accuracy", .string,
                    note: "\"unknown\" on iOS, a number on Android; the wiki says device type"),
                .init("x", .float, unit: "g", note: "m/s2 on Android"),
                .init("y", .float, unit: "g", note: "m/s2 on Android"),
                .init("z", .float, unit: "g", note: "m/s2 on Android"),
            ]),
        BeiweStream(
            "gyro",
            [
                .init("accuracy", .string, note: "Android only"),
                .init("x", .float, unit: "rad/s", note: "right-hand rule"),
                .init("y", .float, unit: "rad/s", note: "right-hand rule"),
                .init("z", .float, unit: "rad/s", note: "right-hand rule"),
            ]),
        BeiweStream(
            "magnetometer",
            [
                .init("x", .float, unit: "uT", note: "raw, not calibrated"),
                .init("y", .float, unit: "uT", note: "raw, not calibrated"),
                .init("z", .float, unit: "uT", note: "raw, not calibrated"),
            ]),
        BeiweStream(
            "devicemotion",
            [
                .init("roll", .float, unit: "rad", note: "around an arbitrary x axis, z vertical"),
                .init("pitch", .float, unit: "rad"),
                .init("yaw", .float, unit: "rad"),
                .init("rotation_rate_x", .float, unit: "rad/s", note: "calibrated"),
                .init("rotation_rate_y", .float, unit: "rad/s", note: "calibrated"),
                .init("rotation_rate_z", .float, unit: "rad/s", note: "calibrated"),
                .init("gravity_x", .float, unit: "g"),
                .init("gravity_y", .float, unit: "g"),
                .init("gravity_z", .float, unit: "g"),
                .init("user_accel_x", .float, unit: "g", note: "without gravity"),
                .init("user_accel_y", .float, unit: "g", note: "without gravity"),
                .init("user_accel_z", .float, unit: "g", note: "without gravity"),
                .init(
                    "magnetic_field_calibration_accuracy", .string,
                    note: "uncalibrated, low, medium, high or unknown"),
                .init("magnetic_field_x", .float, unit: "uT", note: "without that of the device"),
                .init("magnetic_field_y", .float, unit: "uT", note: "without that of the device"),
                .init("magnetic_field_z", .float, unit: "uT", note: "without that of the device"),
            ]),
    ]

    private static let places = [
        BeiweStream(
            "gps",
            [
                .init("latitude", .float, unit: "deg"),
                .init("longitude", .float, unit: "deg"),
                .init("altitude", .float, unit: "m"),
                .init("accuracy", .float, unit: "m", note: "radius; the same fix can come again"),
            ])
    ]

    private static let states = [
        BeiweStream(
            "power_state", upload: "powerState",
            [
                .init(
                    "event", .string,
                    note: "iOS: Charging, Full, Unplugged, PowerUnknown or Unknown, Locked, "
                        + "Unlocked; Android has words of its own"),
                .init(
                    "level", .float,
                    note: "of the battery, 0 to 1, -1 where unknown; iOS only; the wiki says "
                        + "percent"),
            ]),
        BeiweStream("proximity", [.init("event", .string, note: "NearUser or NotNearUser")]),
        BeiweStream("reachability", [.init("event", .string, note: "wifi, cellular, unreachable")]),
    ]

    /// The columns that all survey files have.
    private static let question: [SchemaPreset.Field] = [
        .init("question id", .string),
        .init(
            "question type", .string,
            note: "such as slider on iOS, Slider Question on Android; \(anyText)"),
        .init("question text", .string, note: "commas are semicolons"),
        .init("question answer options", .string, note: "such as [a;b] or min = 0; max = 10"),
        .init(
            "answer", .string,
            note: "NOT_PRESENTED, NO_ANSWER_SELECTED, or what was answered; commas are semicolons"),
    ]

    /// Events while a participant answers a survey.
    static let surveyTimings = BeiweStream(
        "survey_timings", upload: "surveyTimings",
        question + [
            .init(
                "event", .string,
                note: "present, unpresent, changed, submitted or expired; iOS only")
        ])

    /// Survey answers, one row per survey. Each question is a field named by its ID.
    static let surveyAnswers = BeiweStream(
        "survey_answers", upload: "surveyAnswers",
        [
            .init(BeiweHeader.survey, .string, note: "the folder of the survey"),
            .init("*", .string, note: "NOT_PRESENTED, NO_ANSWER_SELECTED, or what was answered"),
        ])

    /// The same answers, one row per question, with its wording. Created by the import.
    static let surveyQuestions = BeiweStream(
        "survey_questions",
        question + [.init("number", .float, note: "the answer where it is one")])

    private static let surveys = [surveyTimings, surveyAnswers, surveyQuestions]

    private static let devices = [
        BeiweStream(
            "identifiers",
            [
                "patient_id", "MAC", "phone_number", "device_id", "device_os", "os_version",
                "product", "brand", "hardware_id", "manufacturer", "model", "beiwe_version",
            ].map { .init($0, .string) }),
        BeiweStream(
            "ios_log",
            [
                .init("launchId", .string), .init("memory", .string), .init("battery", .string),
                .init("event", .string), .init("msg", .string), .init("d1", .string),
                .init("d2", .string), .init("d3", .string), .init("d4", .string),
            ]),
    ]

    private static let android = [
        BeiweStream("app_log", upload: "logFile", [.init("event", .string)]),
        BeiweStream(
            "bluetooth", upload: "bluetoothLog",
            [.init("hashed MAC", .string), .init("RSSI", .integer, unit: "dBm")]),
        BeiweStream(
            "calls", upload: "callLog",
            [
                .init("hashed phone number", .string), .init("call type", .string),
                .init("duration in seconds", .integer, unit: "s"),
            ]),
        BeiweStream(
            "texts", upload: "textsLog",
            [
                .init("hashed phone number", .string), .init("sent vs received", .string),
                .init("message length", .integer, note: "characters"),
                .init("time sent", .string),
            ]),
        BeiweStream(
            "wifi", upload: "wifiLog",
            [
                .init("hashed MAC", .string), .init("frequency", .integer, unit: "MHz"),
                .init("RSSI", .integer, unit: "dBm"),
            ]),
    ]
}
