// What an import says of points that InfluxDB kept apart and the identity does not.

public import CozDB

/// Rows in which points met whose tags differ outside the identity.
public struct MergedTagSets: Hashable, Sendable {
    /// How many rows.
    public var rows = 0
    /// Values in these rows that were replaced by a different one.
    public var replacedValues = 0
    /// One of the rows, in words: experiment, identity, time and the tags that differ.
    public var example = ""
    /// The identity that would keep the points apart; experiments made with it are new ones.
    public var identity = Identity.allTags

    /// What was found between two moments; nil where nothing was.
    ///
    /// - Parameters:
    ///   - merges: `Database.tagSetMerges` now.
    ///   - before: the same at the beginning.
    ///   - schemas: of all experiments.
    public init?(
        _ merges: TagSetMerges, since before: TagSetMerges, schemas: [ExperimentSchema]
    ) {
        guard merges.rows > before.rows, let found = merges.example else { return nil }
        rows = merges.rows - before.rows
        replacedValues = merges.replacedValues - before.replacedValues
        let tags = found.tags.map { tag in
            let earlier = SeriesKey.text(ofTag: tag.name, tag.earlier)
            return "\(tag.name) \(earlier) and \(SeriesKey.text(ofTag: tag.name, tag.later))"
        }
        example =
            "\(found.experiment), \(found.key.namedText) at \(found.time): "
            + tags.joined(separator: ", ")
        // A list of names has no way to write a comma.
        let canList = !merges.isTagMissing && !merges.tags.contains { $0.utf8.contains(0x2C) }
        let schema = schemas.first { $0.name.utf8.elementsEqual(found.experiment.utf8) }
        switch schema?.identity {
        case .participant(let tag) where canList:
            identity = .tags([tag] + merges.tags)
        case .tags(let names) where canList:
            identity = .tags(names + merges.tags)
        default: break
        }
    }
}
