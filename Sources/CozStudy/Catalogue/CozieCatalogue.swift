// The catalogue of Cozie fields: lookups in the table of CozieTable.swift.

internal import CozDB

/// The fields of Cozie data: type, unit, logging rate, meaning and names in Cozie 2.
public struct CozieCatalogue: Sendable {
    /// The fields of Cozie 3. Parsed at first use, in less than a millisecond.
    public static let v3 = CozieCatalogue(CatalogueParser(CozieTable.text))

    /// All fields and patterns, in table order, which is by subject.
    public let fields: [CozieField]

    private let byName: [String: Int]
    private let companions: [String: CozieField]
    /// Longest name first.
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

    /// Returns the description of a field, or nil if it is unknown. Looks up its own name first,
    /// then companions of other fields, then patterns such as `q_*`. The result has the given name.
    public func field(named name: String) -> CozieField? {
        if let index = byName[name] { return fields[index] }
        if let companion = companions[name] { return companion }
        guard let index = patterns.firstIndex(where: { $0.matches(name) }) else { return nil }
        var field = patternFields[index]
        field.pattern = field.name
        field.name = name
        return field
    }

    /// Returns the fields that had this name in Cozie 2 or by a misspelling.
    public func fields(formerlyNamed name: String) -> [CozieField] {
        fields.filter { ($0.namesInV2 + $0.formerNames).contains(name) && $0.name != name }
    }

    /// Searches fields by name. An exact match returns only that field. Otherwise returns the
    /// fields whose current or former name contains the text, or matches it if it has a `*` or `?`.
    /// Ignores the case of ASCII letters.
    ///
    /// - Parameters:
    ///   - text: a name, a part of one, or a pattern.
    ///   - group: only search this group (`CozieField.group`). Nil searches all.
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

    /// Maps old names to new ones. If several fields share an old name, the one sent with a survey
    /// wins.
    ///
    /// Source: the column "Field name in Cozie v2" of Cozie's documentation, and the 18 names that
    /// coziepy 0.0.23 changes (`cozie_v2_v3_translation`). They differ for `heart_rate` and
    /// `sound_pressure`, which coziepy maps to `ws_`; this map follows the documentation.
    /// `timestamp_end`, the old name of the row time, is not included.
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
