// Real Beiwe files, where they lie beside the package.

internal import CozDB
internal import CozImport
internal import CozStudy
internal import Foundation
internal import Testing

struct BeiweRealDataTests {
    private static let folder: String? = {
        var url = URL(fileURLWithPath: #filePath)
        // Worktrees lie deeper.
        for _ in 0..<7 {
            url.deleteLastPathComponent()
            let path = url.appendingPathComponent("shared/data/beiwe").path
            if FileManager.default.fileExists(atPath: path) { return path }
        }
        return nil
    }()

    private static func count(_ export: BeiweExport, _ statement: String) throws -> String {
        String(try export.ask(statement).last?.split(separator: " ").last ?? "")
    }

    @Test(.enabled(if: folder != nil, "no real files beside the package"))
    func `an export of two patients is read whole`() throws {
        let folder = try #require(Self.folder)
        let export = try BeiweExport()
        for _ in 0..<2 {
            let report = try export.load(
                ["\(folder)/forest_sample_dir", "\(folder)/forest_poplar"])
            #expect(!report.hasRefusals, "\(report.examples)")
            #expect(report.points == 33 + 66 + 8 + 32)
            #expect(report.passedOver == 0)
            // Two of the fixes have one millisecond.
            #expect(try Self.count(export, "SELECT count(latitude) FROM gps") == "33")
            #expect(try Self.count(export, "SELECT count(event) FROM survey_timings") == "66")
            #expect(try Self.count(export, "SELECT count(answer) FROM survey_questions") == "23")
        }
        let answers = try export.ask(
            """
            SELECT "fe260986-c52d-4371-953b-4e7877d822c5" FROM survey_answers \
            WHERE id_participant = '16au2moz'
            """)
        #expect(
            answers.dropFirst(2).map { $0.split(separator: " ").joined(separator: " ") } == [
                "2022-03-10T13:58:51Z 4", "2022-03-10T13:59:07Z 10", "2022-03-10T14:06:43Z 5",
                "2022-03-14T16:32:56Z 0", "2022-03-14T18:44:37Z 0", "2022-03-14T19:20:11Z 0",
            ])
        let moments = try export.ask("SELECT accuracy FROM gps WHERE time >= '2021-12-17'")
        #expect(moments.contains { $0.hasPrefix("2021-12-17T00:01:36.262Z") })
        #expect(moments.contains { $0.hasPrefix("2021-12-17T00:01:36.262000001Z") })
        #expect(try export.rejects().isEmpty)
    }

    @Test(.enabled(if: folder != nil, "no real files beside the package"))
    func `an old export of loose files, and a single one`() throws {
        let folder = try #require(Self.folder)
        let export = try BeiweExport()
        export.options.participant = "old"
        export.beiwe.stream = "accelerometer"
        let names = try FileManager.default.contentsOfDirectory(
            atPath: "\(folder)/beiwe_analysis_gps"
        ).sorted().prefix(12)
        let paths = names.map { "\(folder)/beiwe_analysis_gps/\($0)" }
        let lines = try paths.reduce(0) { sum, path in
            let text = try String(contentsOfFile: path, encoding: .utf8)
            return sum + text.split(separator: "\n").count - 1
        }
        let report = try export.load(paths + ["\(folder)/forest_accelerometer_bout.csv"])
        #expect(!report.hasRefusals, "\(report.examples)")
        #expect(report.points == lines + 98)
        #expect(try Self.count(export, "SELECT count(latitude) FROM gps") == "\(lines)")
        let gps = try export.with { database throws(DatabaseError) in
            try database.schemas().first { $0.name == "gps" }?.fields.map(\.name)
        }
        #expect(gps == ["accuracy", "altitude", "latitude", "longitude"], "no UTC time is kept")
        #expect(
            try export.ask("SELECT x FROM accelerometer LIMIT 1").last
                == "2020-02-25T18:18:31.262Z  -0.7123260498046875")
    }
}
