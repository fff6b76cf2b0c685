// What Tab offers, on names that are made up.

internal import CozDB
internal import Testing

@testable internal import CozCommand

private struct MadeUpNames: NameCatalog {
    func experiments() -> [String] { ["demo", "dev", "my study"] }

    func fields(of experiments: [String]) -> [String] {
        experiments == ["dev"] ? ["only_dev"] : ["ts_heart_rate", "ts_hrv", "from", "ws_éa"]
    }

    func tags(of experiments: [String]) -> [String] { ["id_participant", "id_password"] }

    func values(of tag: String, in experiments: [String], prefix: String) -> [String] {
        guard tag == "id_participant", experiments != ["dev"] else { return [] }
        return ["p01", "p02", "o'neil"].filter { $0.hasPrefix(prefix) }
    }

    func zones(prefix: String) -> [String] {
        ["Asia/", "Asia/Singapore", "Asia/Seoul"].filter { $0.hasPrefix(prefix) }
    }
}

struct CompletionTests {
    /// The candidates for the end of a text; with a mark | what stands after the cursor.
    private func candidates(_ text: String) -> [String] {
        completion(text).candidates.map(\.text)
    }

    private func completion(_ text: String) -> Completion {
        let parts = text.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        let request = CompletionRequest(
            before: parts[0], after: parts.count > 1 ? parts[1] : "")
        return Completer(catalog: MadeUpNames()).completion(request)
    }

    @Test func `a statement begins with its word`() {
        #expect(candidates("SEL") == ["SELECT"])
        #expect(candidates("sel") == ["select"])
        #expect(candidates("SHOW MEASUREMENTS; SH") == ["SHOW"])
        #expect(candidates("").contains("EXPLAIN"))
    }

    @Test func `fields, tags and functions come after SELECT`() {
        #expect(candidates("SELECT ts_") == ["ts_heart_rate", "ts_hrv"])
        #expect(candidates("SELECT ts_hrv, id_pa") == ["id_participant", "id_password"])
        #expect(candidates("SELECT mea") == ["mean("])
        #expect(candidates("SELECT mean(ts_he") == ["ts_heart_rate"])
        #expect(candidates("SELECT mean(ts_hrv) + ts_he") == ["ts_heart_rate"])
        #expect(candidates("SELECT mean(ts_hrv) F") == ["FROM"])
        #expect(candidates("SELECT * f") == ["from"])
    }

    @Test func `names that need quotes get them`() {
        #expect(candidates("SELECT fro") == ["\"from\""])
        #expect(candidates("SELECT \"ws_é") == ["ws_éa"])
        #expect(completion("SELECT \"ws_é").insertion == "ws_éa\"")
        #expect(candidates("SELECT x FROM \"my") == ["my study"])
    }

    @Test func `experiments come after FROM`() {
        #expect(candidates("SELECT x FROM de") == ["demo", "dev"])
        #expect(candidates("SELECT x FROM demo, d") == ["demo", "dev"])
        #expect(candidates("SELECT x FROM demo W") == ["WHERE"])
        #expect(candidates("SELECT x FROM (SEL") == ["SELECT"])
        #expect(candidates("SELECT x FROM (SELECT y FROM de") == ["demo", "dev"])
        #expect(candidates("SELECT x FROM (SELECT y FROM demo) GR") == ["GROUP BY"])
        #expect(candidates("DROP MEASUREMENT de") == ["demo", "dev"])
    }

    @Test func `names are those of the experiments in FROM, also behind the cursor`() {
        #expect(candidates("SELECT o| FROM dev") == ["only_dev"])
        #expect(candidates("SELECT only_dev FROM dev WHERE o") == ["only_dev"])
        #expect(candidates("SELECT x FROM db.autogen.dev WHERE o") == ["only_dev"])
        #expect(candidates("SELECT o| FROM demo") == [])
        #expect(candidates("SELECT x FROM dev; SELECT ts_hr") == ["ts_hrv"])
    }

    @Test func `conditions and groups complete to fields, tags and keywords`() {
        #expect(candidates("SELECT x FROM demo WHERE no") == ["now("])
        #expect(candidates("SELECT x FROM demo WHERE ts_hrv > 5 A") == ["AND"])
        #expect(candidates("SELECT x FROM demo WHERE ts_hrv IS N") == ["NULL", "NOT NULL"])
        #expect(candidates("SELECT x FROM demo WHERE s = 'a AND ") == [])
        #expect(candidates("SELECT x FROM demo WHERE (ts_hrv > 5 OR ts_he") == ["ts_heart_rate"])
        #expect(candidates("SELECT x FROM demo WHERE ts_hrv =~ /a(/ A") == ["AND"])
        #expect(candidates("SELECT x FROM demo GROUP BY ti") == ["time("])
        #expect(candidates("SELECT x FROM demo GROUP BY time(1d), id_pas") == ["id_password"])
        #expect(candidates("SELECT x FROM demo GROUP BY time(1d) f") == ["fill("])
        #expect(candidates("SELECT x FROM demo GROUP BY time(1d) fill(p") == ["previous"])
        #expect(candidates("SELECT x FROM demo ORDER BY t") == ["time"])
        #expect(candidates("SELECT x FROM demo LIMIT 5 S") == ["SLIMIT", "SOFFSET"])
        #expect(candidates("SELECT x FROM demo LIMIT ") == [])
    }

    @Test func `values of tags, in the quotes that are open`() {
        #expect(candidates("SELECT x FROM demo WHERE id_participant = 'p") == ["p01", "p02"])
        #expect(candidates("SELECT x FROM demo WHERE id_participant='p01") == ["p01"])
        #expect(candidates("SELECT x FROM demo WHERE \"id_participant\" != 'p02") == ["p02"])
        #expect(candidates("SELECT x FROM demo WHERE id_participant::tag = 'p02") == ["p02"])
        #expect(
            candidates("SELECT x FROM demo WHERE id_participant IN ('p01', 'p") == ["p01", "p02"])
        #expect(
            candidates("SELECT x FROM demo WHERE id_participant NOT IN ('p") == ["p01", "p02"])
        #expect(candidates("SELECT x FROM dev WHERE id_participant = 'p") == [])
        let quoted = completion("SELECT x FROM demo WHERE id_participant = 'o")
        #expect(quoted.insertion == #"o\'neil'"#)
        #expect(candidates("SELECT x FROM demo WHERE time > '20") == [])
    }

    @Test func `zones complete folder by folder`() {
        #expect(candidates("SELECT x FROM demo tz('Asia/S") == ["Asia/Singapore", "Asia/Seoul"])
        #expect(completion("SELECT x FROM demo tz('Asia/Si").insertion == "Asia/Singapore')")
    }

    @Test func `SHOW, ALTER and the rest`() {
        #expect(candidates("SHOW FIE") == ["FIELD KEYS"])
        #expect(candidates("SHOW TAG V") == ["VALUES"])
        #expect(candidates("SHOW TAG VALUES W") == ["WITH KEY =", "WHERE"])
        #expect(candidates("SHOW TAG VALUES WITH KEY = id_pas") == ["id_password"])
        #expect(candidates("ALTER EXPERIMENT demo FIELD ts_h") == ["ts_heart_rate", "ts_hrv"])
        #expect(candidates("ALTER EXPERIMENT demo FIELD ts_hrv TYPE fl") == ["float"])
        #expect(candidates("SELECT mean(ts_hrv) O") == ["OVER ("])
        #expect(candidates("SELECT mean(ts_hrv) OVER (10m BEF") == ["BEFORE"])
        #expect(candidates("SELECT mean(ts_hrv) OVER (10m BEFORE ts_hr") == ["ts_hrv"])
        #expect(candidates("SELECT mean(ts_hrv) OVER (10m BEFORE ts_hrv) F") == ["FROM"])
        #expect(candidates("DELETE F") == ["FROM"])
        #expect(candidates("DELETE ts_hrv, ts_he") == ["ts_heart_rate"])
        #expect(candidates("EXPLAIN SELECT ts_hr") == ["ts_hrv"])
    }

    @Test func `prompt commands complete with their values`() {
        #expect(candidates("\\f") == ["\\fields", "\\format"])
        #expect(candidates("\\format in") == ["influx-json"])
        #expect(candidates("\\fields my") == ["my study"])
        #expect(candidates("\\timing o") == ["on", "off"])
        #expect(candidates("\\experiments x") == [])
    }

    @Test func `nothing is offered in comments, numbers and wrong places`() {
        for text in ["SELECT x -- F", "SELECT 5", "SELECT x FROM demo WHERE a =~ /ab", "/* SEL"] {
            #expect(candidates(text) == [], "\(text)")
        }
    }

    @Test func `what all candidates begin with is put in`() {
        #expect(completion("SELECT id").insertion == "id_pa")
        #expect(completion("SELECT ts_hr").insertion == "ts_hrv")
        #expect(completion("SELECT mea").insertion == "mean(")
        #expect(completion("SELECT x FR").insertion == "FROM ")
        #expect(completion("SELECT x FROM d").insertion == "de")
        #expect(completion("zzz").insertion == "zzz")
    }

    @Test func `a list of candidates is as wide as the terminal, and not endless`() {
        let names = (100..<160).map { Completion.Candidate(text: "name\($0)") }
        let completion = Completion(typed: "", candidates: names)
        let lines = completion.list(columns: 30, linesMax: 5).split(separator: "\n")
        #expect(lines.count == 6)
        #expect(lines.allSatisfy { $0.count <= 30 })
        #expect(lines.last == "... 45 more")
        let control = Completion(typed: "", candidates: [.init(text: "a\u{1B}[2J")])
        #expect(!control.list(columns: 80).contains("\u{1B}"))
    }

    @Test func `any text before the cursor is survived`() {
        let pieces = [
            "'", "\"", "\\", "(", ")", ",", "SELECT", " ", "FROM", "/", "--", "é", ";", ":",
        ]
        var state: UInt64 = 7
        for _ in 0..<2_000 {
            var text = ""
            for _ in 0..<12 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                text += pieces[Int(state >> 33) % pieces.count]
            }
            let completion = completion(text)
            #expect(completion.candidates.allSatisfy { !$0.text.isEmpty }, "\(text)")
        }
    }
}
