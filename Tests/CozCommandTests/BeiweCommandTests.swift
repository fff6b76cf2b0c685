// `cozdb import --format beiwe` and `cozdb sample --shape beiwe` from outside.

internal import Foundation
internal import Testing

struct BeiweCommandTests {
    private static let gps = """
        timestamp,UTC time,latitude,longitude,altitude,accuracy
        1639530204861,2021-12-15T01:03:24.861,42.340195,-71.127155,25.66,7.8

        """

    private func folder(_ files: [String: String]) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for (name, text) in files {
            let url = folder.url.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
        return folder
    }

    @Test func `a sample of a day is imported whole, and again without change`() throws {
        let folder = try folder([:])
        let made = try Command.shell(
            "cozdb sample --shape beiwe --participants 1 --days 1 --output export", in: folder.url)
        #expect(made.status == 0, "\(made.errors)")
        for isNew in [true, false] {
            let run = try Command.shell(
                "cozdb import --db x --format beiwe --experiment s export/", in: folder.url)
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output.contains("rows     0 new") != isNew, "\(run.output)")
            #expect(run.output.contains("refused  nothing"))
        }
        let names = try Command.shell("cozdb query --db x 'SHOW MEASUREMENTS'", in: folder.url)
        for name in ["accelerometer", "gps", "power_state", "survey_answers", "survey_timings"] {
            #expect(names.output.contains(name))
        }
        let again = try Command.shell("cozdb sample --shape beiwe --output export", in: folder.url)
        #expect(again.status == 3)
        #expect(try Command.shell("cozdb sample --shape beiwe", in: folder.url).status == 64)
    }

    @Test func `what is missing is said before anything is stored`() throws {
        let folder = try folder(["old/a.csv": Self.gps, "export/16au2moz/gps/a.csv": Self.gps])
        let import0 = "cozdb import --db x --format beiwe"
        let loose = try Command.shell("\(import0) export old", in: folder.url)
        #expect(loose.status == 64)
        #expect(loose.errors.contains("old/a.csv"))
        #expect(loose.errors.contains("give a participant; see --participant\n"))
        let missing = try Command.shell("\(import0) export nowhere", in: folder.url)
        #expect(missing.status == 5)
        let auto = try Command.shell("cozdb import --db x export", in: folder.url)
        #expect(auto.status == 5)
        #expect(auto.errors.contains("only the format beiwe reads directories; see --format\n"))
        let all = try Command.shell("\(import0) --participant p1 export old", in: folder.url)
        #expect(all.status == 0, "\(all.errors)")
        #expect(all.output.contains("rows     2 new, 2 in the database"))
    }

    @Test func `files of another kind are counted, rows that are none give status 7`() throws {
        let folder = try folder([
            "export/registry": "{}",
            "export/16au2moz/gps/a.csv": Self.gps + "1639530204862,2021-12-15T01:03:24.862,1\n",
        ])
        let run = try Command.shell("cozdb import --db x --format beiwe export", in: folder.url)
        #expect(run.status == 7)
        #expect(run.output.contains("skipped  1 file of other kinds\n         export/registry\n"))
        #expect(run.output.contains("export/16au2moz/gps/a.csv:3: 3 cells; expected 6"))
    }

    @Test func `standard input is one file, piped or redirected`() throws {
        let folder = try folder(["a.csv": Self.gps + Self.gps.split(separator: "\n")[1] + "\n"])
        for (name, line) in [("x", "cat a.csv | "), ("y", "")] {
            let run = try Command.shell(
                "\(line)cozdb import --db \(name) --format beiwe --participant p1 - "
                    + (line.isEmpty ? "< a.csv" : ""), in: folder.url)
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output.contains("rows     1 new"), "\(run.output)")
        }
    }
}
