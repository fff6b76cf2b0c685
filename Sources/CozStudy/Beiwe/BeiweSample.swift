// A synthetic Beiwe export, for demos and tests. It has the shape of real data (hourly files,
// bursts, gaps, rows that share a millisecond) but does not model people.

internal import CozDB

/// The files of a synthetic study. Equal values produce equal bytes on every machine.
public struct BeiweSample: Sendable {
    /// The number of participants. Below 1, the study is empty.
    public var participants = 10
    /// The length of the study in days, 1 to 36,500. Other values count as the nearest of these.
    public var days = 7
    /// The seed of the random numbers.
    public var seed: UInt64 = 1

    /// 2022-03-10T00:00Z, in milliseconds since 1970.
    private static let start = 1_646_870_400_000
    private static let hour = 3_600_000
    private static let survey = "hkmxse2N7aMGfNyVMQDiWWEP"
    private static let questions = [
        ("cc18444e-53c5-4014-84b0-a041350d3a36", "info_text_box", "How are you today?", ""),
        (
            "fe260986-c52d-4371-953b-4e7877d822c5", "slider", "How warm are you?",
            "min = 0; max = 10"
        ),
        ("b4bc0443-0eff-4d12-9c00-f1abde2e4c65", "checkbox", "Where?", "[Indoors;Outdoors;Car]"),
        (
            "5edacd0c-d818-4c3e-9553-2b0b6bd55508", "free_response", "Anything else?",
            "Text-field input type = SINGLE_LINE_TEXT"
        ),
    ]

    /// Creates a study of ten participants and seven days.
    public init() {}

    /// Calls `body` with the path of each file in the export, and its bytes.
    ///
    /// - Throws: what `body` throws.
    public func write<Failure: Error>(
        _ body: (_ path: String, _ bytes: [UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        for number in 0..<max(0, participants) {
            var random = SampleRandom(seed: seed &* 0x9E37_79B9 &+ UInt64(number))
            let letters = Array("abcdefghijkmnpqrstuvwxyz23456789")
            let patient = String((0..<8).map { _ in letters[random.below(letters.count)] })
            var place = (latitude: 1_300_000 + random.below(1000), longitude: 103_800_000)
            for hour in 0..<(min(max(1, days), 36_500) * 24) {
                let begin = BeiweSample.start + hour * BeiweSample.hour
                var streams = [
                    BeiweSample.accelerometer(begin, &random),
                    BeiweSample.gps(begin, &place, &random), BeiweSample.power(begin, &random),
                ]
                if hour % 6 == 4 { streams.append(BeiweSample.timings(begin, &random)) }
                for stream in streams {
                    let name = BeiweSample.name(begin)
                    try body("\(patient)/\(stream.folder)/\(name)", Array(stream.text.utf8))
                }
                guard hour % 6 == 4 else { continue }
                let sent = BeiweSample.name(begin + random.below(3600) * 1000)
                try body(
                    "\(patient)/survey_answers/\(BeiweSample.survey)/\(sent)",
                    Array(BeiweSample.answers(&random).utf8))
            }
        }
    }

    private typealias File = (folder: String, text: String)

    /// Generates ten rows per second for ten seconds, every ten minutes.
    private static func accelerometer(_ begin: Int, _ random: inout SampleRandom) -> File {
        var text = "timestamp,UTC time,accuracy,x,y,z"
        for burst in 0..<6 {
            var time = begin + burst * 600_000 + random.below(1000)
            for _ in 0..<100 {
                time += 99 + random.below(3)
                // Sensors have a resolution of 2^-16 g.
                let values = [-46_000, 2_500, -31_000].map { middle in
                    Double(middle + random.below(6000) - 3000) / 65536
                }
                text += "\n\(time),\(moment(time)),unknown,\(values[0]),\(values[1]),\(values[2])"
            }
        }
        return ("accelerometer", text)
    }

    /// Generates a fix every ten seconds for two minutes, every half hour. Some fixes repeat.
    private static func gps(
        _ begin: Int, _ place: inout (latitude: Int, longitude: Int), _ random: inout SampleRandom
    ) -> File {
        var text = "timestamp,UTC time,latitude,longitude,altitude,accuracy"
        for session in 0..<2 {
            for fix in 0..<12 {
                let time = begin + session * 1_800_000 + fix * 10_000 + random.below(1000)
                if !random.chance(percent: 30) {
                    place.latitude += random.below(200) - 100
                    place.longitude += random.below(200) - 100
                }
                let latitude = Double(place.latitude) / 1e6
                let longitude = Double(place.longitude) / 1e6
                let rest = "\(Double(random.below(500)) / 10),\(Double(5 + random.below(60)))"
                text += "\n\(time),\(moment(time)),\(latitude),\(longitude),\(rest)"
            }
        }
        return ("gps", text)
    }

    /// Generates power events. Some unplug and lock the phone in the same millisecond.
    private static func power(_ begin: Int, _ random: inout SampleRandom) -> File {
        var text = "timestamp,UTC time,event,level"
        var time = begin
        for _ in 0..<(1 + random.below(6)) {
            time += random.below(500_000)
            let level = Double(random.below(101)) / 100
            for event in random.chance(percent: 20) ? ["Unplugged", "Locked"] : ["Unlocked"] {
                text += "\n\(time),\(moment(time)),\(event),\(level)"
            }
        }
        return ("power_state", text)
    }

    private static func timings(_ begin: Int, _ random: inout SampleRandom) -> File {
        var text =
            "timestamp,UTC time,question id,survey id,question type,question text,"
            + "question answer options,answer,event"
        var time = begin + random.below(1_000_000)
        for (id, type, words, options) in questions {
            for event in ["present", "changed", "unpresent"] {
                time += random.below(3000)
                let answer = event == "present" ? "" : answer(type, &random)
                text += "\n\(time),\(moment(time)),\(id),\(survey),\(type),\(words),\(options),"
                text += "\(answer),\(event)"
            }
        }
        time += random.below(3000)
        text += "\n\(time),\(moment(time)),,\(survey),,,,,submitted"
        return ("survey_timings/\(survey)", text)
    }

    private static func answers(_ random: inout SampleRandom) -> String {
        var text = "question id,question type,question text,question answer options,answer"
        for (id, type, words, options) in questions {
            text += "\n\(id),\(type),\(words),\(options),\(answer(type, &random))"
        }
        return text
    }

    private static func answer(_ type: String, _ random: inout SampleRandom) -> String {
        switch type {
        case "slider": random.chance(percent: 10) ? "NO_ANSWER_SELECTED" : "\(random.below(11))"
        case "checkbox": random.pick(["[Indoors]", "[Outdoors]", "[Indoors;Car]", "NOT_PRESENTED"])
        case "free_response": random.pick(["", "no", "it is \"cold\"; really", "all good"])
        default: ""
        }
    }

    // MARK: Times

    /// Formats a time as the server writes it next to the milliseconds.
    private static func moment(_ milliseconds: Int) -> String {
        let (day, clock) = parts(milliseconds)
        let fraction = milliseconds % 1000
        return "\(day)T\(clock.joined(separator: ":")).\(padded(fraction, 3))"
    }

    private static func name(_ milliseconds: Int) -> String {
        let (day, clock) = parts(milliseconds)
        return "\(day) \(clock.joined(separator: "_"))+00_00.csv"
    }

    private static func parts(_ milliseconds: Int) -> (day: String, clock: [String]) {
        let text = "\(Timestamp(nanoseconds: Int64(milliseconds / 1000) * 1_000_000_000))"
        let clock = String(text.dropFirst(11).prefix(8)).parts(separatedBy: ":")
        return (String(text.prefix(10)), clock)
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: Swift.max(0, width - text.count)) + text
    }
}
