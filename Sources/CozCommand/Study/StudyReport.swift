// The report of `cozdb study`: the answers to several questions as one text or JSON object.

internal import CozDB
internal import CozStudy

enum StudyReport {
    static func appendText(
        _ sections: [StudySection], _ study: Study, to output: OutputWriter
    ) throws(DatabaseError) {
        output.append("study: " + (try heading(study)) + "\n")
        for section in sections {
            output.append("\n\(title(section.question, study))\n\n")
            output.append(section.report)
        }
    }

    private static func heading(_ study: Study) throws(DatabaseError) -> String {
        let participants = PlainText.counted(study.participants.count, "participant")
        let spans = study.participants.compactMap { study.days(of: $0) }
        let options = study.options
        var parts = [PlainText.escaped(study.experiment), participants]
        // The number of rows is known for the whole experiment only.
        if options.participants.isEmpty, options.from == nil, options.until == nil {
            parts.append(PlainText.counted(try study.rowCount(), "row"))
        }
        if let first = spans.map(\.lowerBound).min(), let last = spans.map(\.upperBound).max() {
            parts.append(first == last ? "\(first)" : "\(first) to \(last)")
        }
        let zone = study.zone.name
        parts.append(
            "days in time zone \(zone)" + (zone == "UTC" ? " (use --tz to change it)" : ""))
        return parts.joined(separator: ", ")
    }

    private static func title(_ question: StudyQuestion, _ study: Study) -> String {
        let about =
            switch question {
            case .overview: "participants and their data"
            case .responses: "survey responses per local day"
            case .votes: "responses that come long enough after the last valid one"
            case .goal: "cumulative responses against the goal"
            case .silence:
                "time since the last response and the last value, as of "
                    + StudySection.clock(study.options.query.currentTime, study.zone)
            case .delay: "time from measurement to arrival, by trigger"
            case .interval: "time between consecutive values"
            case .availability: "data per participant, field and day"
            }
        return "\(question.rawValue): \(about)"
    }

    static func appendJSON(
        _ sections: [StudySection], _ study: Study, to output: OutputWriter
    ) {
        let zone = study.zone
        let head: [(String, JSONValue)] = [
            ("experiment", .string(study.experiment)), ("tz", .string(zone.name)),
            ("now", StudySection.time(study.options.query.currentTime, zone)),
            ("from", StudySection.time(study.options.from, zone)),
            ("until", StudySection.time(study.options.until, zone)),
        ]
        output.append("{\n")
        for (key, value) in head { output.append("  \"\(key)\": \(value.line),\n") }
        for (index, section) in sections.enumerated() {
            output.append("  \"\(section.question.rawValue)\": ")
            section.appendJSON(to: output)
            output.append(index < sections.count - 1 ? ",\n" : "\n")
        }
        output.append("}\n")
    }
}
