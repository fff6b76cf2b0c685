// A database in a temporary folder, with what tests of the researcher API's CSV do to it.

internal import CozDB
internal import CozImport
internal import CozTestSupport
internal import Foundation

@testable internal import CozStudy

/// One experiment, `dev`, to export and import.
final class ResearcherStudy {
    let directory = TemporaryDirectory()
    let database: Database
    /// 2025-10-15 02:25:21.57 UTC.
    static let start: Int64 = 1_760_495_121_570_000_000
    static let header = ",index,id_participant,id_password,x"

    init(preset: String? = nil) throws {
        var options = DatabaseOptions()
        options.presets = [.cozieV3]
        database = try Database.open(directory.path, options: options)
    }

    func write(
        _ fields: [String: FieldValue], at time: Int64 = ResearcherStudy.start,
        tags: [String: String] = ["id_participant": "p", "id_password": "pw"],
        settings: ExperimentSettings = ExperimentSettings()
    ) throws {
        var batch = WriteBatch()
        batch.settings = settings
        try batch.add(
            experiment: "dev", tags: tags, time: Timestamp(nanoseconds: time), fields: fields)
        _ = try database.write(batch)
    }

    /// Rows a millisecond apart; a row without a value gets another field one.
    func write(_ values: [FieldValue?], as field: String = "x") throws {
        for (row, value) in values.enumerated() {
            let time = ResearcherStudy.start + Int64(row) * 1_000_000
            try write(value.map { [field: $0] } ?? ["zzz": .boolean(true)], at: time)
        }
    }

    func export(_ change: (inout ResearcherRequest) -> Void = { _ in }) throws -> String {
        var request = ResearcherRequest(
            experiment: "dev", now: Timestamp(nanoseconds: ResearcherStudy.start))
        change(&request)
        var bytes: [UInt8] = []
        try ResearcherExport(request).write(from: try database.snapshot()) { bytes += $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The cells of one column, without quotes around them taken away.
    func cells(_ column: String = "x") throws -> [String] {
        let lines = try export().split(separator: "\n").map {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        guard let index = lines[0].firstIndex(of: column) else { return [] }
        return lines.dropFirst().map { $0[index] }
    }

    @discardableResult
    func `import`(
        _ texts: String..., change: (inout ImportOptions) -> Void = { _ in }
    ) throws -> ImportReport {
        let paths = texts.map { _ in directory.path + "-\(UUID().uuidString).csv" }
        for (path, text) in zip(paths, texts) {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        }
        defer { for path in paths { try? FileManager.default.removeItem(atPath: path) } }
        var options = ImportOptions()
        options.format = .cozieCSV
        options.experiment = "dev"
        change(&options)
        return try importFiles(paths, into: database, options: options)
    }

    func types() throws -> [String: FieldType] {
        let fields = try database.schemas().flatMap(\.fields)
        return Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.type) })
    }
}
