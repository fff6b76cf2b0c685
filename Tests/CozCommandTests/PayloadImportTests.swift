// `cozdb import` of payloads from outside: what docs/cozie-payloads.md does not show.

internal import Foundation
internal import Testing

struct PayloadImportTests {
    private let folder: TemporaryFolder
    private let item = """
        {"time":"2022-09-01T07:42:24.471+0800","measurement":"dev","tags":{"id_participant":"p1"},
        "fields":{"ts_heart_rate":74}}
        """

    init() throws {
        folder = try TemporaryFolder()
    }

    private func cozdb(_ line: String) throws -> CommandRun {
        try Command.shell("cozdb \(line)", in: folder.url)
    }

    @Test(arguments: [
        ("--atomic", "--atomic needs --format cozie-json"),
        ("--format lp --lenient", "belong to --format cozie-json"),
        ("--enrich-fields a", "--enrich-fields belongs to --enrich"),
        ("--lambda ms", "--lambda belongs to --enrich"),
        ("--keep-offset time", "expected the name of a field"),
    ])
    func `options that do not go together are wrong usage`(options: String, text: String) throws {
        _ = try folder.write(item, to: "a.json")
        let run = try cozdb("import --db d \(options) a.json")
        #expect(run.status == 64)
        #expect(run.errors.contains(text), "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("d")))
    }

    @Test(arguments: ["a.json", "log.txt", "anything"])
    func `payloads are known by what is in them`(name: String) throws {
        _ = try folder.write("[\(item)]", to: name)
        let run = try cozdb("import --db d \(name)")
        #expect(run.status == 0, "\(run.errors)")
        let answer = try cozdb("query --db d --format csv 'SELECT ts_heart_rate FROM dev'")
        #expect(answer.output.contains("2022-08-31T23:42:24.471000000Z,74"), "\(answer.output)")
    }

    @Test func `a payload comes from a pipe and from gzip`() throws {
        _ = try folder.write("[\(item)]", to: "a.json")
        let piped = try cozdb("import --db d - < a.json")
        #expect(piped.status == 0, "\(piped.errors)")
        let packed = try Command.shell(
            "gzip a.json && cozdb import --db d a.json.gz", in: folder.url)
        #expect(packed.status == 0, "\(packed.errors)")
        #expect(packed.output.contains("0 new, 1 in the database"), "\(packed.output)")
    }

    @Test func `what is refused ends with 7, and deleting a participant takes it along`() throws {
        let bad = item.replacing("\"fields\"", with: "\"values\"")
        _ = try folder.write("[\(item),\n\(bad)]", to: "a.json")
        let run = try cozdb("import --db d a.json")
        #expect(run.status == 7)
        #expect(run.output.contains("item 2: missing fields"), "\(run.output)")
        #expect(try cozdb("rejects --db d list").output.contains("missing fields"))
        let deletion = try cozdb("query --db d \"DELETE FROM dev WHERE id_participant = 'p1'\"")
        #expect(deletion.status == 0, "\(deletion.errors)")
        #expect(try cozdb("rejects --db d list").output == "(no rejects)\n")
    }
}
