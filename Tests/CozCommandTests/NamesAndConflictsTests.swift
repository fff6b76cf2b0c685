// Names that Swift takes for equal and statements take for keywords, and types that vary.

internal import Foundation
internal import Testing

struct NamesAndConflictsTests {
    /// One name in two forms of Unicode: different bytes, so different names.
    private static let composed = "\u{E9}"
    private static let decomposed = "e\u{301}"

    private func query(
        _ statement: String, _ format: String = "csv", in folder: TemporaryFolder
    ) throws -> String {
        let run = try Command.cozdb([
            "query", "--db", folder.path("x.cozdb"), "--format", format, "--epoch", "ns", statement,
        ])
        #expect(run.status == 0, "\(statement): \(run.errors)")
        return run.output
    }

    /// Imports lines and runs the commands that the summary prints.
    private func importAndRepair(_ lines: [String], in folder: TemporaryFolder) throws {
        _ = try folder.write(lines.joined(separator: "\n") + "\n", to: "lines.lp")
        let run = try Command.cozdb(
            ["import", "--db", "x.cozdb", "--identity", "all", "lines.lp"], in: folder.url)
        #expect(run.status == 7, "\(run.errors)")
        let commands = run.lines.filter { $0.hasPrefix("  cozdb ") }.joined(separator: "\n")
        let repair = try Command.shell("set -e\n\(commands)", in: folder.url)
        #expect(repair.status == 0, "\(commands)\n\(repair.output)\(repair.errors)")
        let list = try Command.cozdb(["rejects", "--db", folder.path("x.cozdb"), "list"])
        #expect(!list.output.contains("waiting"), "\(list.output)")
    }

    /// With the character before it, U+301 and U+200D are one character to Swift.
    @Test(arguments: ["\u{301}", "\u{200D}"])
    func `names may begin with a combining character`(mark: String) throws {
        let folder = try TemporaryFolder()
        let lines = """
            \(mark)m,a=1,\(mark)b=1 \(mark)x=20.5,n=4i -86400000000000
            \(mark)m,a=1,\(mark)b=2 \(mark)x=2 1
            \(mark)m,a=2,\(mark)b=2 \(mark)x=3 1

            """
        _ = try folder.write(lines, to: "lines.lp")
        func cozdb(_ arguments: [String]) throws -> String {
            let run = try Command.cozdb(arguments, in: folder.url)
            #expect(run.status == 0, "\(arguments): \(run.errors)")
            return run.output
        }
        let identity = ["--identity", "a,\(mark)b"]
        _ = try cozdb(["import", "--db", "x.cozdb", "lines.lp"] + identity)
        #expect(try query("SELECT count(n) FROM \"\(mark)m\"", in: folder).contains(",1\n"))
        let rows = try cozdb(["export", "--db", "x.cozdb", "--format", "ndjson"])
        #expect(rows.split(separator: "\n").count == 3)
        _ = try folder.write(rows, to: "rows.ndjson")
        _ = try cozdb(["import", "--db", "y.cozdb", "rows.ndjson"] + identity)
        #expect(try cozdb(["export", "--db", "y.cozdb", "--format", "ndjson"]) == rows)
        let columns = try cozdb([
            "export", "--db", "x.cozdb", "--format", "csv", "--columns", "n,\(mark)x",
        ])
        #expect(columns.contains("20.5"))
    }

    @Test func `no file of the database is an output, whatever its name`() throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("m,id_participant=p x=1 1\n", to: "lines.lp")
        let path = folder.path("x.cozdb")
        _ = try Command.cozdb(["import", "--db", path, folder.path("lines.lp")])
        let run = try Command.cozdb([
            "export", "--db", path, "--format", "csv", "--output", path + "/\u{301}out.csv",
        ])
        #expect(run.status == 64 && run.errors.contains("inside the database"), "\(run.errors)")
    }

    @Test
    func `refused values that line protocol cannot represent are left out of it, with a note`()
        throws
    {
        let folder = try TemporaryFolder()
        var rows = ""
        for (number, value) in ["1", "\"SECRET\""].enumerated() {
            for (experiment, tags, field) in [
                ("dev", #""id_participant":"p1""#, #"a\nb"#),
                ("#dev", #""id_participant":"p1""#, "v"),
                ("dev", #""id_participant":"p1","b\\":"x\\""#, "w"),
                ("dev", #""id_participant":"p1""#, #"\tt"#),
            ] {
                rows += """
                    {"measurement":"\(experiment)","tags":{\(tags)},\
                    "time":"2023-11-14T22:13:2\(number)Z","fields":{"\(field)":\(value)}}

                    """
            }
        }
        let file = try folder.write(rows, to: "rows.ndjson")
        let database = ["--db", folder.path("x.cozdb")]
        #expect(try Command.cozdb(["import"] + database + [file]).status == 7)
        let export = try Command.cozdb(["rejects"] + database + ["export"])
        #expect(export.status == 7)
        #expect(
            export.output
                == "dev,id_participant=p1 time=0i,\tt=\"SECRET\" 1700000001000000000\n")
        #expect(export.errors.hasPrefix("cozdb: lp cannot represent 3 values, which are left out"))
        let all = try Command.cozdb(["rejects"] + database + ["export", "--format", "ndjson"])
        #expect(all.status == 0 && all.lines.count == 4)
    }

    @Test func `an export of a participant takes the tag, not a field of its name`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            """
            dev,id_participant=p1,id_password=w1 x=1,id_participant="p2",id_password="w2" 1
            dev,id_participant=p2,id_password=w2 x=2 2

            """, to: "rows.lp")
        let database = ["--db", folder.path("x.cozdb")]
        #expect(try Command.cozdb(["import"] + database + [file]).status == 0)
        for choice in [["--participant", "p2"], ["--password", "w2"]] {
            for (format, lines) in [("ndjson", 1), ("lp", 1), ("csv", 3), ("cozie-csv", 2)] {
                let run = try Command.cozdb(["export"] + database + ["--format", format] + choice)
                #expect(run.status == 0)
                #expect(run.lines.count == lines, "\(format): \(run.output)")
                #expect(!run.output.contains("w1"), "\(format): \(run.output)")
            }
        }
    }

    @Test(arguments: ["#x", "a\nb", ""])
    func `sample data have no experiment that line protocol cannot represent`(name: String) throws {
        let run = try Command.cozdb(["sample", "--experiment", name])
        #expect(run.status == 64)
        #expect(run.output.isEmpty)
    }

    @Test func `columns of an export need be in one of its experiments only`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "dev,id_participant=p1 a=1 1\nother,id_participant=p1 b=2 1\n", to: "rows.lp")
        let database = ["--db", folder.path("x.cozdb")]
        #expect(try Command.cozdb(["import"] + database + [file]).status == 0)
        let export = ["export"] + database + ["--format", "lp", "--columns"]
        #expect(try Command.cozdb(export + ["a"]).output == "dev,id_participant=p1 a=1 1\n")
        #expect(try Command.cozdb(export + ["a,b"]).lines.count == 2)
        let run = try Command.cozdb(export + ["a,c"])
        #expect(run.status == 64)
        #expect(run.errors.contains(#"found "c", expected fields of experiment "dev", "other""#))
    }

    @Test func `names that differ by normalisation only stay apart everywhere`() throws {
        let (a, b) = (Self.composed, Self.decomposed)
        let folder = try TemporaryFolder()
        try importAndRepair(
            [
                "m,\(a)=x,\(b)=y \(a)=1i,\(b)=2i,s=\"\(a)\" 1",
                "m,\(a)=x,\(b)=y \(a)=1.5,\(b)=2.5,s=\"\(b)\" 2",
                "\(a),t=1 \(a)=1i 1", "\(b),t=1 \(a)=1i 1",
                "\(a),t=1 \(a)=1.5 2", "\(b),t=1 \(a)=2.5 2",
            ], in: folder)
        #expect(
            try query("SELECT \"\(a)\", \"\(b)\" FROM m", in: folder).utf8
                .elementsEqual("time,\(a),\(b)\n1,1,2\n2,1.5,2.5\n".utf8))
        #expect(try query("SELECT \"\(a)\" FROM \"\(b)\"", in: folder).hasSuffix("\n2,2.5\n"))
        let values = "SHOW TAG VALUES FROM m WITH KEY IN (\"\(a)\", \"\(b)\")"
        #expect(
            try query(values, in: folder).utf8
                .elementsEqual("name,key,value\nm,\(b),y\nm,\(a),x\n".utf8))
        #expect(try query("SELECT count(distinct s) FROM m", in: folder).hasSuffix("\n0,2\n"))
        #expect(
            try query("SELECT * FROM m", "lp", in: folder).utf8
                .starts(with: "m,\(b)=y,\(a)=x \(b)=2,s=\"\(a)\",\(a)=1 1\n".utf8))
    }

    @Test func `settings of one name are not held against another form of it`() throws {
        let folder = try TemporaryFolder()
        let first = try Command.cozdb(
            ["import", "--db", folder.path("x.cozdb"), "-"],
            input: "\(Self.composed),id_participant=a v=1 1\n")
        #expect(first.status == 0)
        let file = try folder.write("\(Self.decomposed),t=a v=1 1\n", to: "other.lp")
        let second = try Command.cozdb([
            "import", "--db", folder.path("x.cozdb"), "--identity", "all", file,
        ])
        #expect(second.status == 0, "\(second.errors)")
    }

    @Test func `conflicts of fields with any name come in by the printed commands`() throws {
        let names = ["select", "FROM", "a b", "q\"x", "a'b", "'\u{301}x", "b\\k", "$HOME", "`id`"]
        let folder = try TemporaryFolder()
        var lines: [String] = []
        for name in names {
            let key = name.replacing(" ", with: "\\ ")
            lines += ["\(key),t=1 \(key)=7i 1", "\(key),t=1 \(key)=7.5 2"]
        }
        try importAndRepair(lines, in: folder)
        for name in names {
            let word =
                "\"" + name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
            let answer = try query("SELECT \(word) FROM \(word)", in: folder)
            #expect(answer.hasSuffix("\n1,7\n2,7.5\n"), "\(name): \(answer)")
        }
    }

    @Test func `several types in one field come in by one change of its type`() throws {
        let folder = try TemporaryFolder()
        try importAndRepair(
            [
                "m,t=1 v=1i,s=\"x\" 1", "m,t=1 v=2.5,s=3i 2", "m,t=1 v=true 3",
                "m,t=1 v=\"text\" 4",
            ], in: folder)
        let answer = try query("SELECT v, s FROM m", in: folder)
        #expect(answer == "time,v,s\n1,1,x\n2,2.5,3\n3,true,\n4,text,\n")
    }

    @Test func `the order of identity tags is no difference`() throws {
        let folder = try TemporaryFolder()
        for order in ["a,b", "b,a"] {
            let run = try Command.cozdb(
                ["import", "--db", folder.path("x.cozdb"), "--identity", order, "-"],
                input: "m,a=1,b=2 v=1 1\n")
            #expect(run.status == 0, "\(run.errors)")
        }
    }

    @Test func `lp prints a tag under its own name also where every tag is identity`() throws {
        let folder = try TemporaryFolder()
        let line = "m,x=tag,y=z x=1i 1\n"
        let run = try Command.cozdb(
            ["import", "--db", folder.path("x.cozdb"), "--identity", "all", "-"], input: line)
        #expect(run.status == 0)
        #expect(try query("SELECT * FROM m", "lp", in: folder) == line)
        #expect(
            try query("SELECT max(x) FROM m GROUP BY *", "lp", in: folder)
                == "m,x=tag,y=z max=1i 1\n")
    }
}
