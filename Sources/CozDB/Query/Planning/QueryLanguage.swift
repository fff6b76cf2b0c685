// What programs that help to write statements (prompts, editors) need to know of the language.

/// The words of the query language, and where its statements end.
public enum QueryLanguage {
    /// Names of all functions, in lower case and byte order.
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

    /// Names of the functions of one row, which conditions can use too; in byte order.
    public static let rowFunctions = MathFunction.allCases.map(\.rawValue).sorted()

    /// Whether a name stands in statements as it is; others, keywords among them, need double
    /// quotes.
    public static func isPlainName(_ name: String) -> Bool {
        Reference(name: name).text.utf8.elementsEqual(name.utf8)
    }

    /// A name of anything (experiment, field, tag) as statements take it: in double quotes where it
    /// needs them.
    public static func nameText(_ name: String) -> String {
        Reference(name: name).text
    }

    /// A text as statements take it: in single quotes, with what would end it escaped.
    public static func stringText(_ text: String) -> String {
        Expression.quoted(text, with: "'")
    }

    /// Whether a text is all there: false where only more text could make it right, because it
    /// ends inside a statement or a comment. True for a text that is wrong before its end.
    ///
    /// - Parameter options: parameters and limits; nil is none, and the usual ones.
    public static func isComplete(_ text: String, options: QueryOptions? = nil) -> Bool {
        do throws(DatabaseError) {
            let options = options ?? QueryOptions(now: Timestamp(nanoseconds: 0))
            try StatementStack.run(text, options) { () throws(DatabaseError) in
                _ = try Parser.parse(text, options: options)
            }
            return true
        } catch {
            guard let offset = error.offset, error.kind == .usage else { return true }
            let lexer = Lexer(text, parameters: [:])
            let lexeme = lexer.lexeme(after: offset)
            if lexeme.token == .end { return false }
            // A comment that is still open reaches to the end; a string ends with its line.
            let isComment = lexer.bytes[lexeme.start...].starts(with: "/*".utf8)
            return !(isComment && lexeme.end == lexer.bytes.count)
        }
    }
}
