// The tags that name participants in the experiments of an import.

package import CozDB

/// The participant tag of each experiment: that of the options, else that of the experiment in the
/// database, else `id_participant`.
package struct ParticipantTags: Sendable {
    /// The tag of new experiments.
    package var standard = "id_participant"
    private var others: [[UInt8]: String] = [:]

    package init() {}

    /// - Parameters:
    ///   - tag: the tag of all experiments; nil if no option names one.
    ///   - schemas: the experiments in the database.
    package init(_ tag: String?, _ identity: Identity?, _ schemas: [ExperimentSchema]) {
        if let tag {
            standard = tag
        } else if case .participant(let tag) = identity {
            standard = tag
        } else {
            for schema in schemas {
                guard case .participant(let tag) = schema.identity, tag != standard else {
                    continue
                }
                others[Array(schema.name.utf8)] = tag
            }
        }
    }

    /// Whether all experiments have the same tag.
    package var isUniform: Bool { others.isEmpty }

    /// - Parameter experiment: nil if it is unknown.
    package func tag(of experiment: [UInt8]?) -> String {
        experiment.flatMap { others[$0] } ?? standard
    }
}
