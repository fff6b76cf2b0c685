// Long strings under a limit of memory.

internal import Testing

struct LongStringCommandTests {
    /// 1500 rows with strings of 256 KiB: 390 MB. Other rows are written later at times between
    /// them, so that segments overlap.
    @Test func `a merge of long strings takes little memory`() throws {
        let folder = try TemporaryFolder()
        let made = try Command.shell(
            """
            rows() {
              awk -v first=$1 -v step=$2 -v count=$3 'BEGIN {
                for (text = "abcd"; length(text) < 262144;) text = text text
                for (i = 0; i < count; i++)
                  printf "m,id_participant=p1 k=%di,s=\\"%d%s\\" %d\\n",
                    first + i * step, first + i * step, text, first + i * step
              }'
            }
            rows 0 10 1500 | cozdb import --db d - && rows 5 7490 3 | cozdb import --db d -
            """, in: folder.url)
        #expect(made.status == 0, "\(made.errors)")
        let run = try Command.shell("ulimit -v 400000; cozdb compact --db d", in: folder.url)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("segments  3 -> 1"), "\(run.output)")
        let check = try Command.shell(
            "cozdb check --db d && cozdb query --db d --format csv 'SELECT count(s) FROM m'",
            in: folder.url)
        #expect(check.lines.last?.hasSuffix(",1503") == true, "\(check.output) \(check.errors)")
    }

    /// Seven segments with one row of forty strings of a megabyte each.
    @Test func `rows of many long strings are merged and deleted a few at a time`() throws {
        let folder = try TemporaryFolder()
        let made = try Command.shell(
            """
            for row in 1 2 3 4 5 6 7; do
              awk -v row=$row 'BEGIN {
                for (text = "abcd"; length(text) < 1000000;) text = text text
                text = substr(text, 1, 1000000)
                for (i = 0; i < 40; i++)
                  printf "m,id_participant=p1 s%d=\\"%d%s\\" %d\\n", i, row * 40 + i, text, row
              }' | cozdb import --db d - || exit 1
            done
            """, in: folder.url)
        #expect(made.status == 0, "\(made.errors)")
        let merged = try Command.shell("ulimit -v 400000; cozdb compact --db d", in: folder.url)
        #expect(merged.status == 0, "\(merged.errors)")
        #expect(merged.output.contains("-> 1"), "\(merged.output)")
        let deleted = try Command.shell(
            "ulimit -v 400000; cozdb query --db d 'DELETE FROM m WHERE time = 4'", in: folder.url)
        #expect(deleted.status == 0, "\(deleted.errors)")
        let check = try Command.shell(
            "cozdb check --db d && cozdb query --db d --format csv 'SELECT count(s7) FROM m'",
            in: folder.url)
        #expect(check.lines.last?.hasSuffix(",6") == true, "\(check.output) \(check.errors)")
    }
}
