// The code of the article HandlingErrors, which DocumentationTests compares with the article.

internal import CozDB
internal import CozTestSupport
internal import Testing

struct HandlingErrorsSnippets {
    @Test func `the article's closures keep their error type`() throws {
        let folder = TemporaryDirectory()
        let database = try Database.open(folder.path)
        // Snippet: Keep the type of errors
        var lines: [String] = []
        try database.rejects { entry throws(DatabaseError) in
            guard entry.count > 0 else { throw DatabaseError(.usage, "an entry without a count") }
            lines.append(entry.refusal.reason)
            return true
        }
        // End of snippet
        #expect(lines.isEmpty)

        // Snippet: Keep the type of errors
        do {
            let statements = ["SELECT count(x) FROM dev", "SHOW MEASUREMENTS"]
            let answers = try statements.map { text throws(DatabaseError) in
                try database.query(text)
            }
            process(answers)
        } catch {
            // error is a DatabaseError: everything in the do block throws that type
            record(error.kind, error.message)
        }
        // End of snippet
        try database.close()
    }

    private func process(_ answers: [QueryResult]) {}
    private func record(_ kind: DatabaseError.Kind, _ message: String) {}
}
