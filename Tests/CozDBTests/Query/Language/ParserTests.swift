// What the parser reads, what it refuses and with which words, and that nothing breaks it.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

@Suite struct ParserTests {
    private func parse(_ text: String) throws(DatabaseError) -> [Statement] {
        try Parser.parse(text, options: QueryOptions(now: Timestamp(nanoseconds: 0)))
    }

    private func select(_ text: String) throws -> SelectStatement {
        guard case .select(let statement)? = try parse(text).first else {
            throw DatabaseError(.usage, "no SELECT")
        }
        return statement
    }

    private func message(_ text: String) -> String {
        do {
            _ = try parse(text)
            return "no error"
        } catch {
            return error.message
        }
    }

    @Test func `errors name the word found, the words expected and the place`() {
        #expect(
            message("SELECT")
                == "found EOF, expected identifier, string, number, bool at line 1, char 8")
        #expect(
            message("SELECT field1 FROM myseries LIMIT 10.5")
                == "found 10.5, expected integer at line 1, char 35")
        #expect(
            message("SELECT field1 FROM myseries ORDER BY 1")
                == "found 1, expected identifier, ASC, DESC at line 1, char 38")
        #expect(
            message("SELECT value > 2 FROM cpu")
                == "invalid operator > in SELECT clause at line 1, char 8; operator is intended "
                + "for WHERE clause")
        #expect(message("SELECT a\nFROM b WHERE").hasSuffix("at line 2, char 14"))
    }

    @Test func `operators bind by precedence and to the left`() throws {
        let statement = try select("SELECT a FROM m WHERE x = 1 + 2 * 3 - 4 OR y = 2 AND z < 5")
        guard case .binary(.or, let left, let right)? = statement.condition,
            case .binary(.equal, _, .binary(.subtract, .binary(.add, _, _), _)) = left,
            case .binary(.and, _, _) = right
        else {
            Issue.record("wrong tree: \(statement.condition?.text ?? "")")
            return
        }
    }

    @Test func `a sign belongs to the number after it`() throws {
        let statement = try select("SELECT a FROM m WHERE x > -9223372036854775808")
        guard case .binary(.greater, _, .integer(.min))? = statement.condition else {
            Issue.record("wrong tree")
            return
        }
        #expect(message("SELECT a FROM m WHERE x > -9223372036854775809").contains("underflows"))
    }

    @Test func `qualified names, regular expressions and comments are read`() throws {
        let text = #"SELECT /* what */ "a b", c::float FROM "db"."rp"."m", db..n, rp./x\/y/ -- end"#
        let statement = try select(text)
        #expect(statement.fields.map { $0.expression.text } == [#""a b""#, "c::float"])
        guard case .experiment("m", ["db", "rp"], _) = statement.sources[0],
            case .experiment("n", ["db", ""], _) = statement.sources[1],
            case .pattern(let regex, ["rp"], _) = statement.sources[2]
        else {
            Issue.record("wrong sources")
            return
        }
        #expect(regex.pattern == "x/y")
    }

    @Test func `a bound parameter is one word and cannot change the statement`() throws {
        var options = QueryOptions(now: Timestamp(nanoseconds: 0))
        options.parameters = [
            "v": .value(.string("' OR 1=1 --")), "m": .identifier("a; DROP"), "r": .regex("^a"),
        ]
        let statements = try Parser.parse(
            "SELECT x FROM $m WHERE y = $v AND z =~ $r", options: options)
        #expect(statements.count == 1)
        guard case .select(let statement) = statements[0],
            case .experiment("a; DROP", [], _) = statement.sources[0]
        else {
            Issue.record("wrong statement")
            return
        }
        #expect(throws: DatabaseError.self) {
            try Parser.parse("SELECT x FROM $nothing", options: options)
        }
    }

    @Test func `the extensions are read`() throws {
        let statement = try select(
            "SELECT coalesce(a, b) FROM m WHERE c IS NOT NULL AND d NOT IN ('x', 'y') AND e IS NULL"
        )
        #expect(
            statement.condition?.text
                == "c IS NOT NULL AND d NOT IN ('x', 'y') AND e IS NULL")
        guard
            case .alter("m", "f", .string) = try parse("ALTER EXPERIMENT m FIELD f TYPE string")[0]
        else {
            Issue.record("wrong ALTER")
            return
        }
    }

    @Test func `nesting has a limit and overflows nothing`() {
        let deep = String(repeating: "(", count: 100_000)
        #expect(message("SELECT a FROM m WHERE " + deep).contains("nestingDepthMax"))
        let long = String(repeating: "a = 1 OR ", count: 50_000) + "a = 1"
        #expect(message("SELECT a FROM m WHERE " + long).contains("nestingDepthMax"))
        let subqueries = String(repeating: "SELECT a FROM (", count: 10_000)
        #expect(message(subqueries).contains("more than 200 subqueries"))
        let signs = "SELECT a FROM m WHERE x = " + String(repeating: "-(", count: 10_000)
        #expect(message(signs).contains("nestingDepthMax"))
    }

    @Test func `several statements need semicolons between them`() throws {
        #expect(try parse("SELECT a FROM b; SHOW DATABASES;;").count == 2)
        #expect(message("SELECT a FROM b SHOW DATABASES").contains("expected ;"))
    }
}
