// A random database, small and awkward: few times that many rows share, sparse fields, overwritten
// and late rows, odd names and texts, some of it in memory, some in segments, some merged.

internal import CozTestSupport

@testable internal import CozDB

/// What a column is to whoever writes a statement about it.
struct RandomColumn {
    var name: String
    var type: FieldType
    var isTag = false
    /// A column of a subquery that shows a tag.
    var showsTag = false
    /// Two ways to compute its values agree to the last bit, so that values can be compared.
    var isExact = true
    /// Sums of it are the same in every order.
    var sumsExactly = true
    /// Integers close to the ends of their range.
    var isLarge = false
}

struct RandomExperiment {
    var name: String
    var settings: ExperimentSettings
    /// Nil: all tags.
    var identity: [String]?
    var fields: [RandomColumn]
    var tags: [RandomColumn]
    /// Values of each tag, by its name.
    var tagValues: [String: [String]] = [:]
}

struct RandomDatabase {
    static let texts = [
        "Warmer", "Cooler", "No change", "", "é", "e\u{301}", "a,b=c d", "\"q\" \\", "'", "-1",
    ]
    private static let fieldNames = [
        "f", "g", "d", "n", "i", "k", "s", "t", "b", "ts_heart rate", "select", "q\"uote", "Ä",
        "v_1",
    ]
    private static let tagNames = ["host", "id_device", "re gion", "x"]

    var experiments: [RandomExperiment] = []
    var reference = NaiveDatabase()
    /// What was written and done, for whoever has to look into a failure.
    var script: [String] = []
    /// Numbers of the first and last time.
    private var span = -120...600
    /// Around what times lie, and how far apart: seconds around 1970, or the quarters of an hour
    /// around the days on which Helsinki's clocks were switched.
    private(set) var origin: Int64 = 0
    private(set) var step: Int64 = 1_000_000_000
    private(set) var zone: String?
    /// Some rows are at the ends of time.
    private(set) var hasFarTimes = false

    /// Some floats are NaN, of which the naive executor knows nothing.
    private let storesNaN: Bool

    init(
        _ random: inout SeededRandom, in database: Database, rows: Int, storesNaN: Bool = false
    ) throws {
        self.storesNaN = storesNaN
        let names = ["m", "n", "other one"]
        let count = Int.random(in: 1...3, using: &random)
        for name in names.prefix(count) {
            experiments.append(Self.experiment(name, experiments, &random))
        }
        if Int.random(in: 0..<4, using: &random) == 0 { span = 0...60 }
        switch Int.random(in: 0..<12, using: &random) {
        case 0: hasFarTimes = true
        case 1, 2:
            // 2025-03-30 and 2025-10-26, at 01:00 UTC.
            origin = (Bool.random(using: &random) ? 1_743_296_400 : 1_761_440_400) * 1_000_000_000
            (step, zone, span) = (900_000_000_000, "Europe/Helsinki", -200...400)
        default: break
        }
        for _ in 0..<Int.random(in: 2...6, using: &random) {
            var batch = WriteBatch()
            let experiment = experiments[Int.random(in: 0..<experiments.count, using: &random)]
            batch.settings = experiment.settings
            let batchCount = Int.random(in: 1...max(1, rows / 2), using: &random)
            for _ in 0..<batchCount { try add(experiment, to: &batch, &random) }
            _ = try database.write(batch)
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                try database.flush()
                script.append("# flush")
            case 2:
                try database.compact()
                script.append("# compact")
            default: break
            }
        }
        let written = Set(reference.experiments.map(\.name))
        experiments.removeAll { !written.contains($0.name) }
        for index in experiments.indices {
            // Only what was written is known.
            let known = reference.experiments.first { $0.name == experiments[index].name }
            experiments[index].fields.removeAll { known?.fields[$0.name] == nil }
            experiments[index].tags.removeAll { known?.tags.contains($0.name) != true }
        }
    }

    private static func experiment(
        _ name: String, _ known: [RandomExperiment], _ random: inout SeededRandom
    ) -> RandomExperiment {
        var tags = tagNames.shuffled(using: &random)
            .prefix(Int.random(in: 1...3, using: &random)).map {
                RandomColumn(name: $0, type: .string, isTag: true)
            }
        var identity: [String]?
        var settings = ExperimentSettings()
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            tags.insert(RandomColumn(name: "id_participant", type: .string, isTag: true), at: 0)
            identity = ["id_participant"]
        case 1:
            identity = [tags[0].name]
            settings.identity = .tags([tags[0].name])
        default: settings.identity = .allTags
        }
        var fields: [RandomColumn] = []
        for name in fieldNames.shuffled(using: &random)
            .prefix(Int.random(in: 2...6, using: &random))
        {
            // A name has one type, or is a number of either kind.
            var shared = known.flatMap(\.fields).first { $0.name == name }
            if let type = shared?.type, type == .float || type == .integer,
                shared?.isLarge == false, shared?.sumsExactly == true, Bool.random(using: &random)
            {
                shared?.type = type == .float ? .integer : .float
            }
            fields.append(shared ?? column(name, &random))
        }
        if Int.random(in: 0..<12, using: &random) == 0 {
            fields.append(RandomColumn(name: tags[tags.count - 1].name, type: .float))
        }
        var experiment = RandomExperiment(
            name: name, settings: settings, identity: identity, fields: fields, tags: tags)
        for tag in tags {
            let values = ["a", "b", "c", "é", "e\u{301}", "x y", "a=b,c", "10", "9"]
            experiment.tagValues[tag.name] = Array(
                values.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random)))
        }
        return experiment
    }

    private static func column(_ name: String, _ random: inout SeededRandom) -> RandomColumn {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3: RandomColumn(name: name, type: .float)
        case 3: RandomColumn(name: name, type: .float, sumsExactly: false)
        case 4..<7: RandomColumn(name: name, type: .integer)
        case 7: RandomColumn(name: name, type: .integer, isLarge: true)
        case 8: RandomColumn(name: name, type: .string)
        default: RandomColumn(name: name, type: .boolean)
        }
    }

    private mutating func add(
        _ experiment: RandomExperiment, to batch: inout WriteBatch, _ random: inout SeededRandom
    ) throws {
        var time = origin + Int64(Int.random(in: span, using: &random)) * step
        if Int.random(in: 0..<8, using: &random) == 0 {
            time += Int64.random(in: 0..<1_000_000_000, using: &random)
        }
        if hasFarTimes, Int.random(in: 0..<10, using: &random) == 0 {
            time = Bool.random(using: &random) ? Int64.min + 2 : Int64.max - 1
        }
        var tags: [String: String] = [:]
        for tag in experiment.tags {
            let isNeeded = experiment.identity?.contains(tag.name) == true
            if isNeeded || Int.random(in: 0..<4, using: &random) > 0 {
                tags[tag.name] = experiment.tagValues[tag.name]?.randomElement(using: &random)
            }
        }
        var fields: [String: FieldValue] = [:]
        for (index, field) in experiment.fields.enumerated()
        where Int.random(in: 0...(index % 3), using: &random) == 0 {
            fields[field.name] = value(field, &random)
        }
        if fields.isEmpty {
            fields[experiment.fields[0].name] = value(experiment.fields[0], &random)
        }
        try batch.add(
            experiment: experiment.name, tags: tags, time: Timestamp(nanoseconds: time),
            fields: fields)
        reference.write(
            experiment.name, identity: experiment.identity, tags: tags, time: time, fields: fields)
        script.append(Self.line(experiment.name, tags, fields, time))
    }

    private func value(_ field: RandomColumn, _ random: inout SeededRandom) -> FieldValue {
        switch field.type {
        case .float where storesNaN && Int.random(in: 0..<25, using: &random) == 0:
            return .float(.nan)
        case .float where !field.sumsExactly:
            return .float(Double(Int.random(in: 300...420, using: &random)) / 10)
        case .float:
            if Int.random(in: 0..<12, using: &random) == 0 { return .float(-0.0) }
            return .float(Double(Int.random(in: -40...40, using: &random)) / 4)
        case .integer where field.isLarge:
            let base: [Int64] = [.max, .min, 1 << 53, 0]
            return .integer(
                (base.randomElement(using: &random) ?? 0)
                    &+ Int64.random(in: -2...2, using: &random))
        case .integer: return .integer(Int64.random(in: -9...30, using: &random))
        case .string: return .string(Self.texts.randomElement(using: &random) ?? "")
        case .boolean: return .boolean(Bool.random(using: &random))
        }
    }

    // MARK: Line protocol

    private static func line(
        _ name: String, _ tags: [String: String], _ fields: [String: FieldValue], _ time: Int64
    ) -> String {
        func escaped(_ text: String) -> String {
            text.replacing("\\", with: "\\\\").replacing(",", with: "\\,")
                .replacing("=", with: "\\=").replacing(" ", with: "\\ ")
        }
        let head =
            [escaped(name)]
            + tags.sorted { $0.key < $1.key }.map { escaped($0.key) + "=" + escaped($0.value) }
        let cells = fields.sorted { $0.key < $1.key }.map { name, value in
            let text =
                switch value {
                case .float(let number): "\(number)"
                case .integer(let number): "\(number)i"
                case .boolean(let flag): "\(flag)"
                case .string(let text):
                    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
                }
            return escaped(name) + "=" + text
        }
        return head.joined(separator: ",") + " " + cells.joined(separator: ",") + " \(time)"
    }
}
