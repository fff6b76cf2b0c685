// Messages that name series do not tell what opens doors.

internal import Foundation
internal import Testing

struct RedactionCommandTests {
    private let folder: TemporaryFolder
    private let database: String

    init() throws {
        folder = try TemporaryFolder()
        database = folder.path("study.cozdb")
    }

    private func write(_ identity: String) throws {
        let lines = (0..<40).map {
            "dev,id_participant=p\($0 % 2),id_password=S3CRET\($0 % 2) v=\($0).5 \($0)\n"
        }
        let run = try Command.cozdb(
            ["import", "--db", database, "--identity", identity, "-"], input: lines.joined())
        #expect(run.status == 0, "\(run.errors)")
    }

    @Test(arguments: ["id_participant,id_password", "id_password", "all"])
    func `damage names series without their secrets`(identity: String) throws {
        try write(identity)
        let segment = try #require(
            FileManager.default.contentsOfDirectory(atPath: database)
                .first { $0.hasSuffix(".seg") })
        let file = URL(fileURLWithPath: database).appendingPathComponent(segment)
        let sound = try Data(contentsOf: file)
        var masked = 0
        for place in stride(from: 40, to: sound.count, by: max(1, sound.count / 24)) {
            var damaged = sound
            damaged[place] ^= 0x41
            try damaged.write(to: file)
            for arguments in [
                ["query", "--db", database, "--redact", "SELECT * FROM dev"],
                ["check", "--db", database], ["repair", "--db", database, "--dry-run"],
            ] {
                let run = try Command.cozdb(arguments)
                #expect(!(run.output + run.errors).contains("S3CRET"), "\(arguments) \(run)")
                if (run.output + run.errors).contains("REDACTED") { masked += 1 }
            }
        }
        #expect(masked > 3)
    }

    @Test func `an import that merged rows shows no password`() throws {
        let lines = """
            dev,id_participant=p,id_password=S3CRET1 v=1 1
            dev,id_participant=p,id_password=S3CRET2 v=2 1

            """
        let run = try Command.cozdb(["import", "--db", database, "-"], input: lines)
        #expect(run.output.contains("id_password REDACTED and REDACTED"), "\(run.output)")
        #expect(!run.output.contains("S3CRET"))
    }
}
