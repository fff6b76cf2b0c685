// The bracelet's documentation against what is encoded here: every property of every class, and
// its examples as far as they are consistent. Skipped where the documentation does not lie beside
// the package.

internal import CozDB
internal import CozStudy
internal import Foundation
internal import Testing

/// The documentation "DataModels Summaries iOS".
private enum SummaryDocument {
    struct Class {
        var name: String
        var properties: [(name: String, type: String)]
    }

    static let text: String? = {
        var folder = URL(fileURLWithPath: #filePath)
        // Worktrees lie deeper than the package itself.
        for _ in 0..<8 {
            folder.deleteLastPathComponent()
            let seeds = folder.appendingPathComponent("shared/seeds")
            let names = (try? FileManager.default.contentsOfDirectory(atPath: seeds.path)) ?? []
            for name in names where name.hasPrefix("004_") {
                let data = try? Data(contentsOf: seeds.appendingPathComponent(name))
                return data.map { String(decoding: $0, as: UTF8.self) }
            }
        }
        return nil
    }()

    static var isThere: Bool { text != nil }

    /// In its order: a summary, its slot, the next summary.
    static var classes: [Class] {
        let text = text ?? ""
        return text.matches(of: /class (\w+) ?: Object \{([^}]*)\}/).map { found in
            Class(
                name: String(found.1),
                properties: found.2.matches(of: /dynamic var (\w+): (\w+)/).map {
                    (String($0.1), String($0.2))
                })
        }
    }

    /// The members of an example: those of the summary, and those of each of its slots.
    static func example(_ name: String) -> (summary: [String: Double], slots: [[String: Double]]) {
        let start = "\n\(name) {\n"
        guard let text, let range = text.range(of: start) else { return ([:], []) }
        let body = text[range.upperBound...].components(separatedBy: "\n})\n}")[0]
        let parts = body.components(separatedBy: "slots = ")
        func members(_ text: String) -> [String: Double] {
            var members: [String: Double] = [:]
            for found in text.matches(of: /(\w+) = (-?[0-9.]+);/) {
                members[String(found.1)] = Double(found.2)
            }
            return members
        }
        let slots = parts.last?.components(separatedBy: "] Metric").dropFirst() ?? []
        return (members(parts[0]), slots.map(members))
    }
}

@Suite(.enabled(if: SummaryDocument.isThere, "the documentation is not beside the package"))
struct SummaryDocumentTests {
    private static let midnight = Timestamp.nanoseconds("2022-02-01T00:00:00Z")

    private func object(_ value: some Encodable) throws -> [String: Any] {
        let data = try JSONEncoder().encode(value)
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    /// A study that has something of everything.
    private func study() throws -> BraceletStudy {
        var study = try BraceletStudy()
        try study.add(
            Self.midnight,
            [
                "bpm": .integer(60), "respiration_rate": .integer(15), "last_steps": .integer(3),
                "temp1": .float(35.5), "coreBodyTemperature": .float(36.5), "spo2": .integer(97),
                "stressLevelSkinConductance": .integer(3), "sleepType": .integer(2),
                "energy_exp": .integer(1_100),
            ])
        try study.write()
        return study
    }

    @Test func `every property of every class is a key, with its type`() throws {
        let ask = try study().summaries("2022-02-01")
        let summaries = [
            try object(ask.bpm()[0].summaries[0]), try object(ask.breath()[0].summaries[0]),
            try object(ask.steps()[0].summaries[0]), try object(ask.activity()[0].summaries[0]),
            try object(ask.skinTemperature()[0].summaries[0]),
            try object(ask.coreTemperature()[0].summaries[0]),
            try object(ask.spo2()[0].summaries[0]), try object(ask.eda()[0].summaries[0]),
            try object(ask.sleep()[0].summaries[0]),
        ]
        let classes = SummaryDocument.classes
        #expect(classes.count == 18)
        var objects: [[String: Any]] = []
        for summary in summaries {
            let slots = try #require(summary["slots"] as? [[String: Any]])
            objects += [summary, try #require(slots.first)]
        }
        for (definition, object) in zip(classes, objects) {
            #expect(!definition.properties.isEmpty, "\(definition.name)")
            for (name, type) in definition.properties {
                let value = object[name]
                switch type {
                case "Date", "String": #expect(value is String, "\(definition.name).\(name)")
                case "Bool": #expect(value is Bool, "\(definition.name).\(name)")
                default:
                    #expect(value is NSNumber, "\(definition.name).\(name)")
                    if type == "Int" { #expect(value is Int, "\(definition.name).\(name)") }
                }
            }
            let others = Set(object.keys).subtracting(definition.properties.map(\.name))
            #expect(others.isSubset(of: ["timeZone", "slots"]), "\(definition.name) \(others)")
        }
    }

    @Test func `the example of the heart rate comes out`() throws {
        let (expected, slots) = SummaryDocument.example("MetricBPMSummery")
        #expect(slots.count == 8)
        let rates = slots.compactMap { $0["bpm"] }
        let count = try #require(expected["durationRestZone"]) / 300 + 1
        // Of most of its slots only the zone is known, and what the last one is.
        let unknown = Array(repeating: 60.0, count: Int(count) - rates.count - 1)
        let last = try #require(expected["lastBPM"])
        var study = try BraceletStudy()
        for (index, rate) in (rates + unknown + [last]).enumerated() {
            try study.add(Self.midnight + Int64(index) * 5 * minute, ["bpm": .float(rate)])
        }
        try study.write()
        let summary = try object(study.summaries("2022-02-01").bpm()[0].summaries[0])
        for (name, value) in expected where !["id", "date", "averageBPM"].contains(name) {
            #expect((summary[name] as? NSNumber)?.doubleValue == value, "\(name)")
        }
        #expect(expected.count >= 16)
    }

    @Test func `the example of steps comes out`() throws {
        let (expected, slots) = SummaryDocument.example("MetricStepsSummary")
        #expect(slots.count == 7)
        var study = try BraceletStudy()
        var rest = (steps: expected["stepCount"] ?? 0, energy: expected["stepCalories"] ?? 0)
        for (index, slot) in slots.enumerated() {
            let (steps, energy) = (slot["stepCount"] ?? 0, slot["energyExp"] ?? 0)
            rest = (rest.steps - steps, rest.energy - energy)
            try study.add(
                Self.midnight + Int64(index) * 30 * minute,
                [
                    "last_steps": .float(steps), "energy_exp": .float(energy * 1_000),
                    "speed": .float(slot["speed"] ?? 0),
                    "activity_type": .float(slot["activityType"] ?? 0),
                ])
        }
        try study.add(
            Self.midnight + 300 * minute,
            ["last_steps": .float(rest.steps), "energy_exp": .float(rest.energy * 1_000)])
        try study.write()
        let summary = try object(study.summaries("2022-02-01").steps()[0].summaries[0])
        for (name, value) in expected where !["id", "date"].contains(name) {
            let found = (summary[name] as? NSNumber)?.doubleValue ?? .nan
            #expect(abs(found - value) < 1e-9, "\(name)")
        }
        let found = try #require(summary["slots"] as? [[String: Any]])
        for (slot, expected) in zip(found, slots) {
            for (name, value) in expected where name != "intervalDate" {
                let found = (slot[name] as? NSNumber)?.doubleValue ?? .nan
                #expect(abs(found - value) < 1e-9, "\(name)")
            }
        }
    }

    @Test func `slots of the other examples come out`() throws {
        let breath = SummaryDocument.example("MetricBreathSummery").slots
        let skin = SummaryDocument.example("MetricBodyTempSummery").slots
        #expect(breath.count == 11)
        #expect(skin.count == 10)
        var study = try BraceletStudy()
        for (index, slot) in breath.enumerated() {
            try study.add(
                Self.midnight + Int64(index) * 30 * minute,
                [
                    "respiration_rate": .float(slot["brpm"] ?? 0),
                    "resp_q": .float(slot["brpmQ"] ?? 9),
                ])
        }
        for (index, slot) in skin.enumerated() {
            try study.add(
                Self.midnight + Int64(index) * 10 * minute + 1, ["temp1": .float(slot["temp"] ?? 0)]
            )
        }
        try study.write()
        let ask = try study.summaries("2022-02-01")
        #expect(
            try ask.breath()[0].summaries[0].slots.map { Double($0.brpm) }
                == breath.map { $0["brpm"] })
        #expect(try ask.breath()[0].summaries[0].slots.allSatisfy { $0.brpmQ == 0 })
        #expect(
            try ask.skinTemperature()[0].summaries[0].slots.map(\.temp) == skin.map { $0["temp"] })
    }

    @Test func `the average of the example's temperature is that of 51 slots`() throws {
        let (expected, slots) = SummaryDocument.example("MetricBodyTempSummery")
        // Temperatures of slots are whole multiples of a unit; so is the sum of all slots.
        let unit = 51_200.0
        for temperature in slots.compactMap({ $0["temp"] }) {
            let multiple = temperature * unit
            #expect(abs(multiple - multiple.rounded()) < 1e-6)
        }
        let sum = try #require(expected["averageTemp"]) * 51 * unit
        #expect(abs(sum - sum.rounded()) < 1e-6)
    }
}
