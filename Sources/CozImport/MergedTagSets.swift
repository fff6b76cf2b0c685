// Reports points that InfluxDB keeps apart, but that share a row here because of the identity.

public import CozDB

/// Rows that merged points whose tags differ outside the identity.
public struct MergedTagSets: Hashable, Sendable {
    /// The number of such rows.
    public var rows = 0
    /// Values in these rows that were replaced by a different value.
    public var replacedValues = 0
    /// A description of one row: experiment, identity, time and the tags that differ.
    public var example = ""
    /// An identity that keeps such points apart. It applies only to experiments created with it.
    public var identity = Identity.allTags

    /// Returns the merges between two calls of `Database.tagSetMerges`; nil if there are none.
    ///
    /// - Parameters:
    ///   - merges: the later value.
    ///   - before: the earlier value.
    ///   - schemas: the schemas of all experiments.
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
        // A list of tag names is separated by commas, so names must not contain any.
        let canList = !merges.isTagMissing && !merges.tags.contains { $0.utf8.contains(0x2C) }
        let schema = schemas.first { $0.name.utf8.elementsEqual(found.experiment.utf8) }
        let names: [String]
        switch schema?.identity {
        case .participant(let tag): names = [tag] + merges.tags
        case .tags(let own): names = own + merges.tags
        default: return
        }
        if canList, names.count <= Identity.tagCountMax { identity = .tags(names) }
    }
}
