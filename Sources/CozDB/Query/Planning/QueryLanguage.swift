// Information about the query language for prompts and editors.

/// The vocabulary and lexical rules of the query language.
public enum QueryLanguage {
    /// The names of all functions, in lower case and byte order.
    public static let functions: [String] = {
        let aggregates = Aggregate.allCases.map(\.rawValue)
        let study = SeriesFunction.examples.keys + ["nearest", "bin"]
        let names =
            MathFunction.allCases.map(\.rawValue) + aggregates + study
            + CalendarPart.allCases.map(\.rawValue)
            + TechnicalFunction.Kind.allCases.map(\.rawValue)
            + ["holt_winters", "holt_winters_with_fit"]
        return Set(names).union(Transformation.names).sorted()
    }()

    /// The names of the scalar functions, which conditions may also use, in byte order.
    public static let rowFunctions = MathFunction.allCases.map(\.rawValue).sorted()

    /// Returns whether a name can appear in a statement without double quotes. Keywords cannot.
    public static func isPlainName(_ name: String) -> Bool {
        Reference(name: name).text.utf8.elementsEqual(name.utf8)
    }

    /// Returns a name in statement syntax, with double quotes if it needs them.
    public static func nameText(_ name: String) -> String {
        Reference(name: name).text
    }

    /// Returns a string literal in single quotes, with special characters escaped.
    public static func stringText(_ text: String) -> String {
        Expression.quoted(text, with: "'")
    }

    /// Returns whether a text is complete: false if it ends inside a statement or comment, so that
    /// more text could make it valid. Returns true for a text with an earlier error.
    ///
    /// - Parameters:
    ///   - text: statements, the last of which may be unfinished.
    ///   - options: parameters and limits.
    public static func isComplete(
        _ text: String, options: QueryOptions = QueryOptions()
    ) -> Bool {
        do throws(DatabaseError) {
            try StatementStack.run(text, options) { () throws(DatabaseError) in
                _ = try Parser.parse(text, options: options)
            }
            return true
        } catch {
            guard let offset = error.offset, error.kind == .usage else { return true }
            let lexer = Lexer(text, parameters: [:])
            let lexeme = lexer.lexeme(after: offset)
            if lexeme.token == .end { return false }
            // An open comment extends to the end of the text; an open string ends with its line.
            let isComment = lexer.bytes[lexeme.start...].starts(with: "/*".utf8)
            return !(isComment && lexeme.end == lexer.bytes.count)
        }
    }
}
