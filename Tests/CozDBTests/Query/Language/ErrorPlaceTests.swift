// Where an error says it is: the mark § in a statement stands before the place.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

@Suite struct ErrorPlaceTests {
    private let directory = TemporaryDirectory()
    private let database: Database

    init() throws {
        database = try Database.open(directory.path)
        var batch = WriteBatch()
        try batch.add(
            experiment: "m", tags: ["id_participant": "a"], time: Timestamp(nanoseconds: 1),
            fields: ["v": .integer(1), "f": .float(1), "s": .string("x")])
        _ = try database.write(batch)
    }

    /// The offset of the mark, and of the error.
    private func places(_ marked: String) -> (expected: Int?, found: Int?, message: String) {
        let parts = marked.split(separator: "§", omittingEmptySubsequences: false)
        let text = parts.joined()
        do throws(DatabaseError) {
            _ = try database.execute(text)
            return (parts[0].utf8.count, nil, "no error")
        } catch {
            return (parts[0].utf8.count, error.offset, error.message)
        }
    }

    @Test(arguments: [
        "SELECT v FROM m §WHEN v = 1",
        "SELECT v FROM m WHERE v = §",
        "SELECT v FROM m WHERE (v = 1§",
        "SELECT v FROM m WHERE s = §'a",
        "SELECT v FROM m WHERE s =~ §/(/",
        "SELECT v FROM m LIMIT §x",
        "SELECT v FROM m fill(none) §WHERE v = 1",
    ]) func `an error points at the wrong word`(marked: String) {
        let (expected, found, message) = places(marked)
        #expect(found == expected, "\(message)")
    }

    @Test(arguments: [
        "SELECT §vv FROM m",
        "SELECT max(v), mean(§vv) FROM m",
        "SELECT v FROM m WHERE v = 1 AND (s = 'a' OR §vv = 2)",
        "SELECT v FROM §mm",
        "SELECT v FROM m, §mm",
        "SELECT x FROM (SELECT §vv AS x FROM m)",
        "SELECT v FROM m GROUP BY id_participant, §s",
        "SELECT v FROM m GROUP BY §f::field",
        "SELECT v FROM m §tz('Asia/Nowhere')",
    ]) func `an error points at the wrong name`(marked: String) {
        let (expected, found, message) = places(marked)
        #expect(found == expected, "\(message)")
    }

    @Test(arguments: [
        "SELECT §nonsense(v) FROM m",
        "SELECT v, §percentile(v) FROM m",
        "SELECT §5 FROM m",
        "SELECT mean(v), §(1 + 2) FROM m",
        "SELECT v, §'text' FROM m",
        "SELECT f, §v + * FROM m",
        "SELECT §mean(s) FROM m",
        "SELECT f, §v + s FROM m",
        "SELECT v FROM m WHERE §5",
        "SELECT v FROM m WHERE v = 1 AND §nonsense(v) = 1",
        "SELECT v FROM m WHERE time > §'2024-13-01'",
        "SELECT v FROM m WHERE v = 1 AND time > §'2024-13-01' - 1h",
        "SELECT v FROM m WHERE v = 1 AND §time > true",
        "SELECT v FROM m WHERE v = 1 AND §time != 5",
        "SELECT mean(v) FROM m GROUP BY id_participant, §5",
        "SELECT mean(v) FROM m GROUP BY id_participant, §time(x)",
        "SELECT mean(v) FROM m WHERE time > 0 GROUP BY time(1h, §'2024-99-99')",
        "SELECT v FROM m WHERE v = 1 §fill(none)",
    ]) func `of what does not make sense`(marked: String) {
        let (expected, found, message) = places(marked)
        #expect(found == expected, "\(message)")
    }

    @Test(arguments: [
        "SHOW MEASUREMENTS; SELECT v FROM §mm",
        "SHOW MEASUREMENTS; §DROP DATABASE x; SHOW MEASUREMENTS",
        "SELECT v FROM m;\n-- a comment: é\nSELECT §\"é\" FROM m",
        "SHOW MEASUREMENTS;  §SHOW MEASUREMENTS WHERE time > 5",
    ]) func `an error in a later statement has the place in the whole text`(marked: String) {
        let (expected, found, message) = places(marked)
        #expect(found == expected, "\(message)")
    }
}

@Suite struct QueryLanguageTests {
    @Test(arguments: [
        "", "SELECT v FROM m", "SELECT v FROM m;", "SHOW MEASUREMENTS -- all",
        // Wrong before the end, so that more text would not help.
        "SELEC", "SELECT v FRM m", "SELECT v FROM m WHERE s = 'a", "SELECT v FROM m) (",
    ]) func `a text may end here`(text: String) {
        #expect(QueryLanguage.isComplete(text))
    }

    @Test(arguments: [
        "SELECT", "SELECT v", "SELECT v FROM", "SELECT mean(v", "SELECT v FROM m WHERE (v = 1",
        "SHOW TAG VALUES FROM m", "SELECT v FROM m; SHOW", "SELECT v FROM m /* a", "SELECT v -- x",
        "SELECT v FROM m WHERE v IN (1,", "SELECT v FROM m GROUP BY\n",
    ]) func `a text has to go on`(text: String) {
        #expect(!QueryLanguage.isComplete(text))
    }

    @Test func `bound parameters count as words`() {
        var options = QueryOptions(now: Timestamp(nanoseconds: 0))
        options.parameters = ["p": .value(.integer(1))]
        #expect(QueryLanguage.isComplete("SELECT v FROM m WHERE v = $p", options: options))
        #expect(!QueryLanguage.isComplete("SELECT v FROM m WHERE $p =", options: options))
    }

    @Test func `functions are those that statements may call`() {
        let functions = QueryLanguage.functions
        #expect(functions == functions.sorted())
        for name in [
            "mean", "percentile", "derivative", "coalesce", "atan2", "count_distinct",
            "holt_winters",
        ] {
            #expect(functions.contains(name))
        }
        #expect(!functions.contains("nonsense"))
        #expect(QueryLanguage.rowFunctions.contains("abs"))
        #expect(!QueryLanguage.rowFunctions.contains("mean"))
    }

    @Test(arguments: ["a", "from", "a b", "\"", "\\", "a\nb", "'", "é", "\u{1B}", "a\tb\r", "; --"])
    func `a name or text written for a statement is read as it was`(text: String) throws {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        var batch = WriteBatch()
        try batch.add(
            experiment: text, tags: ["id_participant": text], time: Timestamp(nanoseconds: 1),
            fields: [text: .integer(7)])
        _ = try database.write(batch)
        let name = QueryLanguage.nameText(text)
        let result = try database.query(
            "SELECT \(name) FROM \(name) WHERE id_participant = \(QueryLanguage.stringText(text))")
        #expect(result.series.first?.columns.last?.integers == [7])
    }

    @Test func `names that are keywords or no words need quotes`() {
        #expect(QueryLanguage.isPlainName("ts_heart_rate"))
        for name in ["from", "Series", "a b", "1a", "", "a.b", "é"] {
            #expect(!QueryLanguage.isPlainName(name), "\(name)")
        }
    }
}
