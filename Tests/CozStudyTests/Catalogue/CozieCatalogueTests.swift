// The catalogue: its table, lookup, and what the documentation and real data say of the fields.

internal import CozDB
internal import Foundation
internal import Testing

@testable internal import CozStudy

struct CozieCatalogueTests {
    private let catalogue = CozieCatalogue.v3

    private static let hasSources = CatalogueSources.directory != nil
    private static let missing: Comment = "the documentation and data are not beside the package"

    // MARK: The table

    @Test func `every line of the table makes sense`() {
        let parser = CatalogueParser(CozieTable.text)
        #expect(parser.problems.isEmpty, "\(parser.problems)")
        #expect(parser.fields.count > 150)
    }

    @Test func `what is wrong with a table is said with its line`() {
        let table = """
            # title
            ts_a  float  -  *  -  iphone  -
                A field.
            ts_b  flaot  -  *  -  iphone  -
            ts_a  float  -  *  -  iphone  text,ns
            ts_a  float  -  *  -  iphone  -
            """
        let parser = CatalogueParser(table)
        #expect(parser.fields.map(\.name) == ["ts_a", "ts_a"])
        #expect(parser.problems.count == 4)
        #expect(parser.problems.first?.hasPrefix("line 4: ") == true)
        #expect(parser.problems.contains("duplicate field: ts_a"))
        #expect(parser.problems.contains("field without a description: ts_a"))
        #expect(CatalogueParser("    text").problems == ["line 1: text before the first field"])
    }

    @Test func `columns of the table become properties`() throws {
        let field = try #require(catalogue.field(named: "ts_heart_rate"))
        #expect(field.type == .float)
        #expect(field.unit == "count/min")
        #expect(field.rate == .phoneApp)
        #expect(field.interval == "3-6min")
        #expect(field.device == .iphone)
        #expect(field.group == "ts")
        #expect(field.namesInV2 == ["ts_heartRate", "heart_rate"])
        #expect(field.arrivals == [.text, .milliseconds])
        #expect(field.meaning == "Heart rate.")
        #expect(field.documentedAs == ["Integer"])
        #expect(catalogue.field(named: "wss_goal")?.group == "wss")
        #expect(catalogue.field(named: "transmit_trigger")?.group == "row")
        #expect(catalogue.field(named: "time")?.type == nil)
    }

    // MARK: Lookup

    @Test func `companions and patterns are known by their names`() throws {
        let lambda = try #require(catalogue.field(named: "ts_HRV_lambda"))
        #expect(lambda.type == .string)
        #expect(lambda.meaning.contains("ts_HRV"))
        let milliseconds = try #require(catalogue.field(named: "ws_heart_rate_lambda_ms"))
        #expect(milliseconds.type == .float)
        #expect(milliseconds.unit == "ms")
        // Not a field whose arrival the backend is known to store; it would be the same.
        #expect(catalogue.field(named: "ts_move_time_lambda_ms")?.type == .float)
        #expect(catalogue.field(named: "q_thermal_trigger")?.type == .string)
        let answer = try #require(catalogue.field(named: "q_anything"))
        #expect(answer.name == "q_anything")
        #expect(answer.type == .string)
        #expect(catalogue.field(named: "heartbeat") == nil)
        #expect(catalogue.field(named: "q") == nil)
    }

    @Test func `a search takes a name, a former name, a pattern or a part`() {
        func names(_ text: String) -> [String] { catalogue.fields(matching: text).map(\.name) }
        #expect(names("ts_HRV") == ["ts_HRV"])
        #expect(names("ts_HRV_trigger") == ["ts_HRV_trigger"])
        #expect(names("vote_count") == ["ws_survey_count"])
        #expect(names("timestamp_location") == ["ts_timestamp_location", "ws_timestamp_location"])
        #expect(names("resting_heart_rate").count == 2)
        #expect(names("hrv") == ["ts_HRV", "ws_HRV"])
        #expect(names("t?_hrv") == ["ts_HRV"])
        #expect(
            names("ts_*_rate") == [
                "ts_heart_rate", "ts_resting_heart_rate", "ts_walking_heart_rate",
            ])
        #expect(names("q_*").contains("q_*"))
        #expect(names("*").count == catalogue.fields.count)
        #expect(names("nothing like it").isEmpty)
    }

    @Test(arguments: [
        ("*", "", true), ("*", "abc", true), ("a*c", "abbc", true), ("a*c", "ac", true),
        ("a*c", "acb", false), ("*b*", "abc", true), ("a?c", "abc", true), ("a?c", "ac", false),
        ("", "", true), ("", "a", false), ("*ab", "aab", true), ("a*b*c", "axbxbxc", true),
        ("a*b*c", "axcxb", false), ("abc", "ab", false), ("ab", "abc", false), ("?*", "", false),
    ]) func `a star stands for any letters and a question mark for one`(
        _ pattern: String, _ name: String, _ expected: Bool
    ) {
        #expect(NamePattern(pattern).matches(name) == expected)
    }

    // MARK: Names of version 2

    @Test func `names of version 2 become those of version 3`() {
        let renames = catalogue.renamesFromV2
        #expect(renames["vote_count"] == "ws_survey_count")
        #expect(renames["ts_heartRate"] == "ts_heart_rate")
        #expect(renames["heart_rate"] == "ts_heart_rate")
        #expect(renames["timestamp_location"] == "ws_timestamp_location")
        #expect(renames["latitude"] == "ws_latitude")
        #expect(renames["id_one_signal"] == "id_onesignal")
        #expect(renames["wss_reminder_enabeled"] == "wss_reminder_enabled")
        #expect(renames["settings_from_time"] == "wss_participation_time_start")
        #expect(renames["timestamp_end"] == nil)
        #expect(renames["timestamp_lambda"] == nil)
        for (old, new) in renames {
            #expect(catalogue.field(named: old) == nil, "\(old) is no name of version 3")
            #expect(catalogue.field(named: new)?.type != nil)
        }
    }

    /// Source: coziepy 0.0.23, without the names that it leaves as they are, and without the two
    /// for which the documentation says something else.
    @Test func `every name that coziepy changes is changed`() {
        let names = [
            "body_mass": "ts_body_mass", "latitude": "ws_latitude", "longitude": "ws_longitude",
            "settings_from_time": "wss_participation_time_start",
            "settings_notification_frequency": "wss_reminder_interval",
            "settings_participation_days": "wss_participation_days",
            "timestamp_location": "ws_timestamp_location",
            "timestamp_start": "ws_timestamp_start",
            "ts_hearingEnvironmentalExposure": "ts_audio_exposure_environment",
            "ts_heartRate": "ts_heart_rate", "ts_oxygenSaturation": "ts_oxygen_saturation",
            "ts_restingHeartRate": "ts_resting_heart_rate", "ts_standTime": "ts_stand_time",
            "ts_stepCount": "ts_step_count", "ts_walkingDistance": "ts_walking_distance",
            "vote_count": "ws_survey_count",
        ]
        let renames = catalogue.renamesFromV2
        for (old, new) in names { #expect(renames[old] == new, "\(old)") }
        #expect(renames["sound_pressure"] == "ts_audio_exposure_environment")
    }

    // MARK: The documentation

    @Test(.enabled(if: hasSources, missing))
    func `every field of the documentation is in the catalogue, and says the same`() throws {
        let documented = try CatalogueSources.documentedFields()
        #expect(documented.count > 230)
        for row in documented {
            guard let field = catalogue.field(named: row.name) else {
                Issue.record("\(row.place): \(row.name) is not in the catalogue")
                continue
            }
            let type = field.type?.name ?? "string"
            #expect(
                row.type.lowercased() == type || field.documentedAs.contains(row.type),
                "\(row.place): \(row.name) is \(row.type), in the catalogue \(type)")
            #expect(
                row.rate == field.rate.rawValue || row.rate == "?"
                    || field.documentedAs.contains { $0.lowercased() == row.rate },
                "\(row.place): \(row.name) comes \(row.rate), in the catalogue \(field.rate)")
            if let interval = row.interval {
                #expect(interval == field.interval, "\(row.place): \(row.name)")
            }
            for name in row.namesInV2 {
                #expect(field.namesInV2.contains(name), "\(row.place): \(row.name) was \(name)")
            }
        }
    }

    @Test(.enabled(if: hasSources, missing))
    func `what is said of the documentation is there`() throws {
        let documented = try CatalogueSources.documentedFields()
        for field in catalogue.fields where !field.documentedAs.isEmpty {
            let rows = documented.filter { $0.name == field.name }
            for word in field.documentedAs {
                #expect(
                    rows.contains { $0.type == word || $0.rate == word.lowercased() },
                    "\(field.name): no page says \(word)")
            }
        }
    }

    @Test(.enabled(if: hasSources, missing))
    func `fields with companions in the documentation have them`() throws {
        let page = try CatalogueSources.text("seeds/000_604fdb6e5d4bf898.txt")
        let names = page.matches(of: /<li><code>(\w+) ?<\/code>/).map { String($0.1) }
        #expect(names.count == 31)
        for name in names {
            #expect(catalogue.field(named: name)?.arrivals.contains(.text) == true, "\(name)")
        }
    }

    @Test(.enabled(if: hasSources, missing))
    func `every field whose type the backend forces is in the catalogue`() throws {
        let page = try CatalogueSources.text("docs/domain.md")
        for kind in ["int", "float", "string"] {
            let line = try #require(
                page.components(separatedBy: "\n").first { $0.hasPrefix("- **\(kind)**") })
            let names = line.matches(of: /(?:ts|ws|wss|si|app|notification|action)_\w+/)
            #expect(names.count > 5)
            for name in names.map({ String($0.0) }) where name != "ts_" {
                let type = try #require(catalogue.field(named: name)?.type, "\(name)")
                if kind == "string" { #expect(type == .string, "\(name)") }
                if kind == "float" { #expect(type == .float, "\(name)") }
                if kind == "int" { #expect(type == .integer || type == .float, "\(name)") }
            }
        }
    }

    // MARK: Real data

    @Test(.enabled(if: hasSources, missing))
    func `every column of real exports is known`() throws {
        for file in try CatalogueSources.files("data/cozie_v3", ending: ".csv") {
            let columns = try CatalogueSources.columns(file)
            #expect(columns.count > 100, "\(file)")
            for column in columns {
                #expect(catalogue.field(named: column) != nil, "\(file): \(column)")
            }
        }
        let table = try CatalogueSources.text("data/cozie_other/esse_column_information.csv")
        let made = ["Column Names", "level_0", "index_time"]
        for line in table.split(separator: "\n") {
            let name = String(line.prefix { $0 != "," })
            #expect(made.contains(name) || catalogue.field(named: name) != nil, "\(name)")
        }
    }

    @Test(.enabled(if: hasSources, missing))
    func `every field of real payloads is known, with a type that takes its values`() throws {
        let text = try CatalogueSources.text("data/cozie_v3/yanta006_payload_first600.json")
        var types: [String: Set<FieldType>] = [:]
        for item in try JSONDecoder().decode([Payload].self, from: Data(text.utf8)) {
            for (name, value) in item.fields { types[name, default: []].insert(value.type) }
        }
        #expect(types.count > 50)
        for (name, received) in types {
            let type = try #require(catalogue.field(named: name)?.type, "\(name)")
            for other in received {
                let isNumber = type == .float && other == .integer
                #expect(type == other || isNumber, "\(name) is \(type), came as \(other)")
            }
        }
    }

    private struct Payload: Decodable {
        var fields: [String: Value]
    }

    private struct Value: Decodable {
        var type: FieldType

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if (try? container.decode(Bool.self)) != nil {
                type = .boolean
            } else if let number = try? container.decode(Double.self) {
                type = number == number.rounded() ? .integer : .float
            } else {
                _ = try container.decode(String.self)
                type = .string
            }
        }
    }
}
