// Resolves metrics to fields of an experiment: the fields that the caller named, else those of the
// first measuring system that the experiment has fields of.

internal import CozDB

/// The fields from which one kind of summary is computed.
struct SummaryFields {
    private var sources: [SummaryMetric: MetricSource] = [:]

    /// - Throws: `notFound` if a named field is unknown or no field holds the main metric; `usage`
    ///   if a field is not numeric.
    init(
        _ kind: SummaryKind, of request: SummaryRequest, in schema: ExperimentSchema
    ) throws(DatabaseError) {
        let isKnown = { (name: String) in schema.field(name) != nil }
        let system = request.sources.first { system in
            SummaryFields.main(kind).contains { metric in
                system.sources[metric].map { !$0.limited(to: isKnown).groups.isEmpty } ?? false
            }
        }
        for metric in kind.metrics {
            if let names = request.fields[metric] {
                try SummaryFields.checkKnown(names, in: schema)
                sources[metric] = MetricSource(groups: [names])
            } else if let source = system?.sources[metric]?.limited(to: isKnown),
                !source.groups.isEmpty
            {
                sources[metric] = source
            }
        }
        if SummaryFields.main(kind).allSatisfy({ sources[$0] == nil }) {
            throw SummaryFields.missing(kind, request, schema)
        }
        for (metric, source) in sources where metric != .workouts {
            try SummaryFields.checkNumbers(source.groups.flatMap(\.self), in: schema)
        }
    }

    subscript(_ metric: SummaryMetric) -> MetricSource? { sources[metric] }

    /// Returns the main metrics. A summary needs at least one of them.
    private static func main(_ kind: SummaryKind) -> [SummaryMetric] {
        switch kind {
        case .sleep: [.sleepType] + SummaryMetric.sleepStageMetrics
        case .eda: SummaryMetric.emography
        default: [kind.metric]
        }
    }

    private static func checkKnown(
        _ names: [String], in schema: ExperimentSchema
    ) throws(DatabaseError) {
        for name in names where schema.field(name) == nil {
            throw DatabaseError(
                .notFound,
                "experiment \"\(schema.name)\" has no field \"\(name)\""
                    + NameSuggestion.text(name, among: schema.fields.map(\.name)))
        }
    }

    private static func checkNumbers(
        _ names: [String], in schema: ExperimentSchema
    ) throws(DatabaseError) {
        for name in names {
            guard let type = schema.field(name)?.type, type != .float, type != .integer else {
                continue
            }
            throw DatabaseError(
                .usage,
                "field \"\(name)\" of experiment \"\(schema.name)\": found values of type "
                    + "\(type.name), expected numbers")
        }
    }

    private static func missing(
        _ kind: SummaryKind, _ request: SummaryRequest, _ schema: ExperimentSchema
    ) -> DatabaseError {
        let expected = request.sources.compactMap { system -> String? in
            let names = main(kind).compactMap { system.sources[$0] }
                .flatMap { $0.groups.flatMap(\.self) }
            return names.isEmpty ? nil : "\(system.name): \(names.joined(separator: ", "))"
        }
        let looked = expected.isEmpty ? "" : " (\(expected.joined(separator: "; ")))"
        return DatabaseError(
            .notFound,
            "experiment \"\(schema.name)\" has no field for the summary \(kind.rawValue)\(looked); "
                + "name the field that holds \(kind.metric.rawValue)",
            remedy: .change([.field]))
    }
}
