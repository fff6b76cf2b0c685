// One synthetic participant of SampleData: what the phone and watch measure, and when it arrives.

/// A SplitMix64 generator. Equal seeds give equal numbers on every platform.
struct SampleRandom {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns a number in `0..<count`.
    mutating func below(_ count: Int) -> Int {
        Int(next() % UInt64(count))
    }

    mutating func chance(percent: Int) -> Bool {
        below(100) < percent
    }

    mutating func pick(_ words: [String]) -> String {
        words[below(words.count)]
    }

    mutating func hex(_ count: Int) -> String {
        String((0..<count).map { _ in Array("0123456789ABCDEF")[below(16)] })
    }
}

/// Generates the points of one participant.
struct SampleParticipant {
    private static let millisecondsPerDay = 86_400_000
    private static let millisecondsPerMinute = 60_000
    /// 2024-03-01T00:00+08:00, in milliseconds since 1970.
    private static let start = 1_709_222_400_000

    /// The fields for which the backend adds `_lambda` and `_trigger` companions.
    private static let fieldsWithCompanions: Set<String> = [
        "ts_heart_rate", "ws_heart_rate", "ts_step_count", "ts_latitude", "ts_longitude",
        "ws_latitude", "ws_longitude", "ws_survey_count",
    ]

    private static let answers: [(question: String, options: [String])] = [
        ("q_preference_thermal", ["Cooler", "No Change", "Warmer"]),
        ("q_preference_noise", ["Quieter", "No Change", "Louder"]),
        ("q_noise_nearby", ["None", "A little", "A lot"]),
        ("q_noise_source", ["Traffic", "People talking", "Fan, A/C = \"loud\"", "None"]),
        ("q_location", ["Indoor - Office", "Indoor - Home", "Outdoor", "Other \\ none"]),
        ("q_clothing", ["Very light", "Light", "Medium", "Heavy"]),
        ("q_mood", ["😀 good", "😐 neutral", "☹️ bad"]),
        ("q_activity", ["Sitting", "Standing", "Walking"]),
    ]

    /// Sleep stages in the order of one cycle, with the maximum minutes of each.
    private static let stages = [
        ("ts_sleep_core", 40), ("ts_sleep_deep", 30), ("ts_sleep_core", 20), ("ts_sleep_REM", 25),
        ("ts_sleep_awake", 6),
    ]

    private static let notes = [
        "It is time for a survey!", "Bitte füllen Sie die Umfrage aus.",
        "Reminder: \"3 of 100\" done,\nkeep going", "Path C:\\data, really",
    ]

    private let number: Int
    private let days: Int
    private var random: SampleRandom
    private var tags: String
    /// The times when the phone reaches the backend, in milliseconds, ascending.
    private var uploads: [Int] = []
    /// Surveys answered so far. Includes lost ones, because the watch counts those too.
    private var surveyCount = 0
    private var result: [SamplePoint] = []

    init(number: Int, days: Int, seed: UInt64) {
        self.number = number
        self.days = days
        random = SampleRandom(seed: seed &+ UInt64(number) &* 0x0001_0000_0001)
        tags = ""
    }

    mutating func points() -> [SamplePoint] {
        setTags()
        scheduleUploads()
        for day in 0..<days {
            let midnight = Self.start + day * Self.millisecondsPerDay
            if day > 0, random.chance(percent: 8) { continue }
            // Reinstalling the app creates a new password for the same participant.
            if day > 0, random.chance(percent: 3) { setTags() }
            if day % 7 == 0 { settings(midnight) }
            heartRate(midnight)
            steps(midnight)
            places(midnight)
            surveys(midnight)
            sleep(midnight)
            notifications(midnight)
        }
        return result
    }

    private mutating func setTags() {
        let padded = number < 9 ? "0\(number + 1)" : "\(number + 1)"
        let device = "\(random.hex(8))-\(random.hex(4))-\(random.hex(12))"
        tags = ",id_onesignal=\(device),id_participant=demo_p\(padded),id_password=\(random.hex(8))"
    }

    /// Schedules one to five uploads per day. Some days have none.
    private mutating func scheduleUploads() {
        for day in 0...(days + 4) where day > days || !random.chance(percent: 15) {
            let midnight = Self.start + day * Self.millisecondsPerDay
            let moments = (0..<(1 + random.below(5))).map { _ in
                midnight + random.below(Self.millisecondsPerDay)
            }
            uploads += moments.sorted()
        }
    }

    /// Adds a point that leaves the phone with the first upload after `time`. Some points are sent
    /// again with a later upload, a few of them with another value.
    private mutating func add(
        _ time: Int, trigger: String, isImmediate: Bool = false,
        _ fields: [(name: String, value: SampleValue)]
    ) {
        let next = uploads.first { $0 >= time } ?? time
        let arrival = isImmediate ? time + 900 + random.below(4_000) : next + random.below(9_000)
        append(time, arrival, trigger, fields)
        guard random.chance(percent: 5) else { return }
        var again = fields
        if random.chance(percent: 30), case .integer(let value) = fields[0].value {
            again[0].value = .integer(value + 1 + random.below(3))
        }
        let later = uploads.first { $0 > arrival } ?? arrival + 1_000
        append(time, later + random.below(9_000), trigger, again)
    }

    private mutating func append(
        _ time: Int, _ arrival: Int, _ trigger: String,
        _ fields: [(name: String, value: SampleValue)]
    ) {
        let microseconds = Int64(arrival) * 1_000 + Int64(random.below(1_000))
        let stamp = SampleValue.string(SampleTime.text(microseconds))
        var all = fields
        for field in fields where Self.fieldsWithCompanions.contains(field.name) {
            all.append((field.name + "_lambda", stamp))
            all.append((field.name + "_trigger", .string(trigger)))
        }
        all.append(("timestamp_lambda", stamp))
        all.append(("timestamp_lambda_ms", .float(Double(microseconds) / 1_000)))
        all.append(("transmit_trigger", .string(trigger)))
        result.append(
            SamplePoint(
                tags: tags, fields: all, time: Int64(time) * 1_000_000, arrival: microseconds,
                order: number << 32 | result.count))
    }

    // MARK: Measurements

    /// Adds watch samples. The phone and the watch both send most of them, in separate points.
    private mutating func heartRate(_ midnight: Int) {
        var time = midnight + random.below(20 * Self.millisecondsPerMinute)
        while time < midnight + Self.millisecondsPerDay {
            let minute = (time - midnight) / Self.millisecondsPerMinute
            let isAwake = minute > 420 && minute < 1_380
            let rate = (isAwake ? 68 : 54) + random.below(isAwake ? 40 : 12)
            add(time, trigger: "background_task", [("ts_heart_rate", .integer(rate))])
            if random.chance(percent: 85) {
                add(
                    time, trigger: "watch_survey",
                    [("ws_heart_rate", .integer(rate))])
            }
            time += (4 + random.below(14)) * Self.millisecondsPerMinute + random.below(59_999)
        }
        let variability = 20 + Double(random.below(60_000)) / 1_000
        add(midnight + 25_200_000, trigger: "background_task", [("ts_HRV", .float(variability))])
    }

    private mutating func steps(_ midnight: Int) {
        for quarter in 30..<88 where random.chance(percent: 60) {
            let time = midnight + quarter * 15 * Self.millisecondsPerMinute + random.below(600_000)
            let count = random.below(1_400)
            add(
                time, trigger: "application_appear",
                [
                    ("ts_step_count", .integer(count)),
                    ("ts_walking_distance", .float(Double(count) * 0.75)),
                ])
        }
    }

    private mutating func places(_ midnight: Int) {
        for hour in [8, 9, 12, 13, 18, 21] where random.chance(percent: 80) {
            let time = midnight + hour * 3_600_000 + random.below(3_000_000)
            add(
                time, trigger: "location_change",
                [
                    ("ts_altitude", .integer(random.below(90))),
                    ("location_change", .boolean(true)),
                    ("ts_latitude", .float(1.28 + Double(random.below(90_000)) / 1_000_000)),
                    ("ts_longitude", .float(103.77 + Double(random.below(90_000)) / 1_000_000)),
                    ("ts_location_floor", .integer(0)),
                    ("ts_timestamp_location", .string(SampleTime.text(Int64(time) * 1_000))),
                ])
        }
    }

    /// Adds watch surveys. Some are sent several times, some are followed by another one soon
    /// after, and a few are lost.
    private mutating func surveys(_ midnight: Int) {
        for hour in [9, 11, 14, 16, 19, 22] where random.chance(percent: 65) {
            let time = midnight + hour * 3_600_000 + random.below(3_500_000)
            survey(time, goesToSleep: hour == 22 && random.chance(percent: 60))
            guard random.chance(percent: 20) else { continue }
            survey(time + (10 + random.below(40)) * Self.millisecondsPerMinute, goesToSleep: false)
        }
    }

    private mutating func survey(_ time: Int, goesToSleep: Bool) {
        surveyCount += 1
        if random.chance(percent: 4) { return }
        let isLocated = random.chance(percent: 60)
        let latitude = 1.28 + Double(random.below(90_000)) / 1_000_000
        let longitude = 103.77 + Double(random.below(90_000)) / 1_000_000
        var fields: [(name: String, value: SampleValue)] = [
            ("ws_survey_count", .integer(surveyCount)),
            ("ws_timestamp_start", .string(SampleTime.text(Int64(time - 40_000) * 1_000))),
            ("ws_latitude", .float(isLocated ? latitude : 0)),
            ("ws_longitude", .float(isLocated ? longitude : 0)),
            ("ws_timestamp_location", .string("")),
            ("ws_location_floor", .integer(0)),
            ("wss_title", .string("Thermal (short)")),
        ]
        for (question, options) in Self.answers where random.chance(percent: 85) {
            let isAsleep = goesToSleep && question == "q_activity"
            let answer = isAsleep ? "Going to sleep" : random.pick(options)
            fields.append((question, .string(answer)))
        }
        let copies = random.chance(percent: 15) ? 2 + random.below(3) : 1
        for copy in 0..<copies {
            add(
                time + copy * 700, trigger: "watch_survey",
                isImmediate: random.chance(percent: 70), fields)
        }
    }

    /// Adds the night that begins on the evening of the day. Each sleep stage is one row at its
    /// start, with its duration in minutes.
    private mutating func sleep(_ midnight: Int) {
        var time = midnight + (22 * 60 + random.below(120)) * Self.millisecondsPerMinute
        let end = midnight + (29 * 60 + random.below(100)) * Self.millisecondsPerMinute
        let inBed = Double((end - time) / 30_000) / 2
        add(time, trigger: "background_task", [("ts_sleep_in_bed", .float(inBed))])
        time += (3 + random.below(12)) * Self.millisecondsPerMinute
        while time < end {
            for (stage, most) in Self.stages where time < end {
                let halves = 4 + random.below(2 * most)
                add(
                    time, trigger: "background_task", [(stage, .float(Double(halves) / 2))])
                time += halves * Self.millisecondsPerMinute / 2
            }
        }
    }

    private mutating func notifications(_ midnight: Int) {
        for hour in [10, 15] {
            add(
                midnight + hour * 3_600_000 + random.below(60_000),
                trigger: "push_notification_reception", isImmediate: true,
                [
                    ("notification_title", .string("Cozie")),
                    ("notification_subtitle", .string("")),
                    ("notification_text", .string(random.pick(Self.notes))),
                    ("action_buttons_shown", .string("Helpful, Not helpful now, Not relevant")),
                ])
        }
    }

    private mutating func settings(_ midnight: Int) {
        add(
            midnight + 28_800_000 + random.below(60_000), trigger: "app_change_settings",
            isImmediate: true,
            [
                ("wss_goal", .integer(100)),
                ("wss_reminder_enabled", .boolean(random.chance(percent: 50))),
                ("q_wake_hour", .string("7")),
                ("q_wake_minute", .string("00")),
                ("si_ios_version", .string(random.pick(["17.4", "18.6.2", "26.1"]))),
                ("app_bundle_build_version", .string("51")),
                ("si_iphone_battery_charge_state", .integer(-100 + random.below(201))),
            ])
    }
}

/// Formats times as the backend does.
enum SampleTime {
    /// Returns a time such as `2024-03-01T08:30:12.345678Z`.
    ///
    /// - Parameter microseconds: since 1970.
    static func text(_ microseconds: Int64) -> String {
        let seconds = microseconds / 1_000_000
        let day = seconds / 86_400
        let second = Int(seconds % 86_400)
        // Counts days from 0000-03-01, so that the leap day is the last day of a year.
        let shifted = Int(day) + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        let date = "\(year)-\(pad(month))-\(pad(dayOfYear - (153 * marchMonth + 2) / 5 + 1))"
        let clock = "\(pad(second / 3_600)):\(pad(second / 60 % 60)):\(pad(second % 60))"
        return "\(date)T\(clock).\(pad(Int(microseconds % 1_000_000), 6))Z"
    }

    private static func pad(_ number: Int, _ width: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
