// CSV for spreadsheets: texts that would be computed get an apostrophe, numbers stay.

internal import Foundation
internal import Testing

struct SafeCellsTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let lines = #"""
            dev,id_participant=\=p,note=@x a="=1+1",b="+1",c="-1",d="@y",e="plain",n=-1.5,i=-2i 1
            dev,id_participant=\=p,note=@x a="\#tz",\=f="a=b",b="\#rq",n=2 2

            """#
        let run = try Command.cozdb(
            ["import", "--db", folder.path("study.cozdb"), "-"], input: lines)
        #expect(run.status == 0, "\(run.errors)")
    }

    private func run(_ line: String) throws -> CommandRun {
        try Command.shell("cozdb \(line)", in: folder.url)
    }

    @Test func `cells of texts that begin like formulas are marked`() throws {
        let query = try run(
            "query --db study.cozdb --format csv --safe-cells --epoch ns "
                + "'SELECT a,b,c,d,e,n,i,\"=f\" FROM dev GROUP BY id_participant'")
        #expect(
            query.output == """
                id_participant,time,a,b,c,d,e,n,i,'=f
                '=p,1,'=1+1,'+1,'-1,'@y,plain,-1.5,-2,
                '=p,2,'\tz,"'\rq",,,,2,,a=b

                """, "\(query.output) \(query.errors)")
        let plain = try run(
            "query --db study.cozdb --format csv --epoch ns 'SELECT a FROM dev LIMIT 1'")
        #expect(plain.output == "time,a\n1,=1+1\n")
    }

    @Test(arguments: ["csv", "cozie-csv"])
    func `cells of an export that look like formulas are marked`(format: String) throws {
        let marked = try run("export --db study.cozdb --format \(format) --safe-cells")
        #expect(marked.status == 0, "\(marked.errors)")
        for text in ["'=p", "'=1+1", "'+1", "'-1,", "'@y", "'=f", ",-1.5", ",-2"] {
            #expect(marked.output.contains(text), "\(text) in \(marked.output)")
        }
        let plain = try run("export --db study.cozdb --format \(format)")
        #expect(!plain.output.contains("'"))
    }

    @Test func `only CSV takes the option`() throws {
        let query = try run("query --db study.cozdb --safe-cells 'SELECT * FROM dev'")
        #expect(query.status == 64 && query.errors.contains("--safe-cells without a CSV format"))
        #expect(try run("export --db study.cozdb --format lp --safe-cells").status == 64)
    }

    @Test func `a table for a spreadsheet with decimal commas`() throws {
        _ = try folder.write("dev,id_participant=q a=\"x;y\",c=\"1,5\",n=0.25,i=3i 5\n", to: "q.lp")
        let query =
            "query --db study.cozdb --format csv --epoch ns --safe-cells "
            + "\"SELECT a,c,n,i FROM dev WHERE id_participant = 'q'\""
        #expect(try run("import --db study.cozdb q.lp").status == 0)
        for (options, expected) in [
            ("--decimal-comma", "time;a;c;n;i\n5;\"x;y\";1,5;0,25;3\n"),
            ("--delimiter ';'", "time;a;c;n;i\n5;\"x;y\";1,5;0.25;3\n"),
            ("--delimiter tab", "time\ta\tc\tn\ti\n5\tx;y\t1,5\t0.25\t3\n"),
            ("--delimiter '|' --decimal-comma", "time|a|c|n|i\n5|x;y|1,5|0,25|3\n"),
            ("", "time,a,c,n,i\n5,x;y,\"1,5\",0.25,3\n"),
        ] {
            let answer = try run("\(query) \(options)")
            #expect(answer.output == expected, "\(options): \(answer.errors)")
        }
        for options in [
            "--delimiter , --decimal-comma", "--delimiter ab", "--delimiter 1", "--delimiter :",
        ] {
            let refused = try run("\(query) \(options)")
            #expect(refused.status == 64 && refused.errors.contains("--delimiter"), "\(refused)")
        }
        let table = try run("query --db study.cozdb --decimal-comma 'SELECT a FROM dev'")
        #expect(table.status == 64 && table.errors.contains("--decimal-comma without a CSV"))
        let back = try run(
            "query --db study.cozdb --format csv --decimal-comma 'SELECT n, e FROM dev'"
                + " | cozdb import --db back.cozdb --experiment dev --participant x "
                + "--decimal-comma -")
        #expect(back.status == 0, "\(back.output) \(back.errors)")
        let sum = try run("query --db back.cozdb --format csv --epoch ns 'SELECT sum(n) FROM dev'")
        #expect(sum.output == "time,sum\n0,0.75\n", "\(sum.output) \(sum.errors)")
    }

    @Test func `studies and summaries are written like queries`() throws {
        let made = try run("sample --participants 2 --days 3 | cozdb import --db sample.cozdb -")
        #expect(made.status == 0, "\(made.errors)")
        for command in [
            "study --db sample.cozdb demo delay --tz UTC --format csv",
            "summary activity --db sample.cozdb --all-participants --day 2024-03-01 --days 2 "
                + "--tz UTC --height 168 --format csv",
        ] {
            let (plain, german) = (try run(command), try run(command + " --decimal-comma"))
            #expect(plain.status == 0 && german.status == 0, "\(plain.errors) \(german.errors)")
            #expect(plain.lines.count > 2 && plain.lines.count == german.lines.count)
            let columns = plain.lines[0].split(separator: ",").count
            for line in german.lines {
                let cells = line.split(separator: ";", omittingEmptySubsequences: false)
                #expect(cells.count == columns)
                #expect(line.firstMatch(of: #/;-?[0-9]+\.[0-9]+;/#) == nil, "\(line)")
            }
        }
    }
}
