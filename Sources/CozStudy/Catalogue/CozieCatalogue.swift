// What the fields of Cozie data are: lookup in the table of CozieTable.swift.

internal import CozDB

/// The fields of Cozie data: type, unit, logging rate, meaning, names in Cozie 2.
public struct CozieCatalogue: Sendable {
    /// The fields of Cozie 3. Read from its table at first use, in less than a
    /// millisecond.
    public static let v3 = CozieCatalogue(CatalogueParser(CozieTable.text))

    /// All fields and patterns, in the order of the table: by subject.
    public let fields: [CozieField]

    private let byName: [String: Int]
    private let companions: [String: CozieField]
    /// The longest first.
    private let patterns: [NamePattern]
    private let patternFields: [CozieField]

    init(_ parser: CatalogueParser) {
        fields = parser.fields
        byName = Dictionary(
            fields.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        companions = Dictionary(
            fields.flatMap(\.companions).map { ($0.name, $0) },
            uniquingKeysWith: { first, _ in first })
        patternFields = fields.filter(\.isPattern).sorted {
            $0.name.utf8.count > $1.name.utf8.count
        }
        patterns = patternFields.map { NamePattern($0.name) }
    }

    /// What is known of a field: by its own name, as a companion of another field, or by a pattern
    /// such as `q_*`; nil where nothing is. The result has the name asked for.
    public func field(named name: String) -> CozieField? {
        if let index = byName[name] { return fields[index] }
        if let companion = companions[name] { return companion }
        guard let index = patterns.firstIndex(where: { $0.matches(name) }) else { return nil }
        var field = patternFields[index]
        field.pattern = field.name
        field.name = name
        return field
    }

    /// The fields that once had this name, in Cozie 2 or misspelt.
    public func fields(formerlyNamed name: String) -> [CozieField] {
        fields.filter { ($0.namesInV2 + $0.formerNames).contains(name) && $0.name != name }
    }

    /// The fields that a person who types this may mean: the one with this name; else those whose
    /// present or former names match, where it has a `*` or `?`, or contain it. Letters match in
    /// either case.
    ///
    /// - Parameter group: only fields of this group (`CozieField.group`); nil: of all.
    public func fields(matching text: String, group: String? = nil) -> [CozieField] {
        if let field = field(named: text), group == nil || field.group == group,
            !text.utf8.contains(UInt8(ascii: "*"))
        {
            return [field]
        }
        let isPattern = text.utf8.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") }
        let pattern = NamePattern(isPattern ? text : "*\(text)*", ignoresCase: true)
        return fields.filter { field in
            if let group, field.group != group { return false }
            return ([field.name] + field.namesInV2 + field.formerNames).contains {
                pattern.matches($0)
            }
        }
    }

    /// New names by old ones: what `fields(formerlyNamed:)` knows, and of several fields with one
    /// old name the one that is sent with a survey.
    ///
    /// Source: the column "Field name in Cozie v2" of Cozie's documentation, and the 18 names that
    /// coziepy 0.0.23 changes (`cozie_v2_v3_translation`). They differ for `heart_rate` and
    /// `sound_pressure`, which coziepy takes for `ws_`: here the documentation decides. The old
    /// name of the time of a row, `timestamp_end`, is not among them.
    public var renamesFromV2: [String: String] {
        var renames: [String: String] = [:]
        for field in fields where field.type != nil {
            for old in field.namesInV2 + field.formerNames where old != field.name {
                if renames[old] == nil || field.device == .watch { renames[old] = field.name }
            }
        }
        return renames
    }
}
