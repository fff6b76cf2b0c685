// Declarations of fields: type, unit, note, question and options.

/// A named list of field declarations, for creating an experiment (`ExperimentSettings.preset`).
///
/// A declaration does not create a field. The first value does, and the declaration then determines
/// its type, unit and note. Queries do not see declared fields without values.
public struct SchemaPreset: Hashable, Sendable {
    /// The declaration of one field, or of all fields that match a pattern.
    public struct Field: Hashable, Sendable {
        /// The field's name: 1 to 65,535 bytes of UTF-8. In a preset it may have one `*`, which
        /// matches any bytes or none: `q_*`, `*_lambda`. An exact name takes precedence over a
        /// pattern, and a longer pattern over a shorter one.
        public var name: String
        /// The type of the field.
        public var type: FieldType
        /// Unit of the values, such as `count/min`; empty if there is none.
        public var unit: String
        /// A one-sentence note on the values; empty if there is none.
        public var note: String
        /// The question that the values answer; empty if there is none.
        public var question: String
        /// The offered answers, in order; empty for free answers.
        public var options: [String]

        /// Creates a declaration.
        ///
        /// - Parameters:
        ///   - name: The field's name; in a preset, also a pattern with one `*`.
        ///   - type: The type of the field.
        ///   - unit: Unit of the values, such as `count/min`; empty if there is none.
        ///   - note: A note on the values; empty if there is none.
        ///   - question: The question that the values answer; empty if there is none.
        ///   - options: The offered answers, in order.
        public init(
            _ name: String, _ type: FieldType, unit: String = "", note: String = "",
            question: String = "", options: [String] = []
        ) {
            self.name = name
            self.type = type
            self.unit = unit
            self.note = note
            self.question = question
            self.options = options
        }

        /// Whether the declaration says nothing but the type of the field.
        var isTypeOnly: Bool {
            unit.isEmpty && note.isEmpty && question.isEmpty && options.isEmpty
        }

        /// All names and texts are compared byte by byte.
        public static func == (left: Field, right: Field) -> Bool {
            Name(left.name) == Name(right.name) && left.type == right.type
                && Name(left.unit) == Name(right.unit) && Name(left.note) == Name(right.note)
                && Name(left.question) == Name(right.question)
                && left.options.map { Name($0) } == right.options.map { Name($0) }
        }

        /// Consistent with `==`.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(Name(name))
            hasher.combine(type)
        }
    }

    /// The name used in settings. `none` is reserved.
    public var name: String
    /// The declarations; names must be unique.
    public var fields: [Field]

    /// Creates a preset.
    ///
    /// - Parameters:
    ///   - name: The name used in settings. `none` is reserved.
    ///   - fields: The declarations; names must be unique.
    public init(name: String, fields: [Field]) {
        self.name = name
        self.fields = fields
    }

    /// The reserved name for no preset.
    static let none = "none"
}

/// An index of declarations by field name.
package struct FieldDeclarations: Sendable {
    private struct Pattern {
        var prefix: [UInt8]
        var suffix: [UInt8]
        var field: SchemaPreset.Field

        func matches(_ name: [UInt8]) -> Bool {
            name.count >= prefix.count + suffix.count && name.starts(with: prefix)
                && name.suffix(suffix.count).elementsEqual(suffix)
        }
    }

    private var byName: [Name: SchemaPreset.Field] = [:]
    /// Longest first.
    private var patterns: [Pattern] = []

    /// Creates an index. If two declarations have the same name, the later one wins.
    package init(_ preset: SchemaPreset) {
        let star = UInt8(ascii: "*")
        for field in preset.fields {
            let bytes = Array(field.name.utf8)
            guard let place = bytes.firstIndex(of: star) else {
                byName[Name(field.name)] = field
                continue
            }
            patterns.append(
                Pattern(
                    prefix: Array(bytes[..<place]), suffix: Array(bytes[(place + 1)...]),
                    field: field))
        }
        patterns.sort { $0.prefix.count + $0.suffix.count > $1.prefix.count + $1.suffix.count }
    }

    /// Returns the declaration of a field, with the field's name in place of the pattern; nil if
    /// there is none.
    package func declaration(of name: String) -> SchemaPreset.Field? {
        if let field = byName[Name(name)] { return field }
        let bytes = Array(name.utf8)
        guard var field = patterns.first(where: { $0.matches(bytes) })?.field else { return nil }
        field.name = name
        return field
    }
}
