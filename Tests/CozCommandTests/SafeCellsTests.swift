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
}
