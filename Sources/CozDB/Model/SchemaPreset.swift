// What is said of fields before their first value comes: type, unit, note, question and options.

/// Declarations of fields that an experiment is created with (`ExperimentSettings.preset`).
///
/// A field is created by its first value; a declaration of it decides its type, unit and note
/// then. What is declared and never written is no field: queries do not know it.
public struct SchemaPreset: Hashable, Sendable {
    /// A declaration of one field, or of all fields whose names match a pattern.
    public struct Field: Hashable, Sendable {
        /// 1 to 65,535 bytes of UTF-8. In a preset one `*` stands for any bytes, also none:
        /// `q_*`, `*_lambda`. A name goes before a pattern, a longer pattern before a shorter one.
        public var name: String
        /// The type the field is locked to.
        public var type: FieldType
        /// Unit of the values, such as `count/min`; empty where they have none.
        public var unit: String
        /// What a reader should know of the values, in a sentence; empty for nothing.
        public var note: String
        /// The question whose answers the values are; empty where they answer none.
        public var question: String
        /// The answers offered, in order; empty where any answer is one.
        public var options: [String]

        /// - Parameters:
        ///   - name: of the field; in a preset also a pattern with one `*`.
        ///   - unit: of the values, such as `count/min`; empty where they have none.
        ///   - note: what a reader should know of them; empty for nothing.
        ///   - question: what the values answer; empty for nothing.
        ///   - options: the answers offered, in order.
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

        /// Byte by byte, as all names are compared.
        public static func == (left: Field, right: Field) -> Bool {
            Name(left.name) == Name(right.name) && left.type == right.type
                && Name(left.unit) == Name(right.unit) && Name(left.note) == Name(right.note)
                && Name(left.question) == Name(right.question)
                && left.options.map { Name($0) } == right.options.map { Name($0) }
        }

        /// Agrees with `==`.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(Name(name))
            hasher.combine(type)
        }
    }

    /// The name that settings ask for it by; `none` is taken.
    public var name: String
    /// Each name once.
    public var fields: [Field]

    /// - Parameters:
    ///   - name: what settings ask for it by; `none` is taken.
    ///   - fields: each name once.
    public init(name: String, fields: [Field]) {
        self.name = name
        self.fields = fields
    }

    /// The name that stands for no preset at all.
    static let none = "none"
}

/// Declarations found by the name of a field.
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
    /// The longest first.
    private var patterns: [Pattern] = []

    /// - Parameter preset: of two declarations with one name the later one counts.
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

    /// What is declared of a field, under its own name; nil where nothing is.
    package func declaration(of name: String) -> SchemaPreset.Field? {
        if let field = byName[Name(name)] { return field }
        let bytes = Array(name.utf8)
        guard var field = patterns.first(where: { $0.matches(bytes) })?.field else { return nil }
        field.name = name
        return field
    }
}
