// Size limits, checked before any of a batch is written. An accepted batch can always be flushed,
// merged and opened again.

extension CommitEncoder {
    /// Why points with a tag set cannot be stored; nil if they can.
    ///
    /// - Parameter schema: nil for a new experiment.
    func limitReason(
        _ tagSet: WriteBatch.ReceivedTagSet, _ schema: ExperimentSchema?, _ identity: Identity
    ) -> String? {
        if schema == nil, schemas.count >= options.experimentCountMax {
            return "the database already has its maximum of \(options.experimentCountMax) "
                + "experiments (experimentCountMax)"
        }
        var keySizeBytes = 0
        var newCount = 0
        for tag in tagSet.tags {
            if Name(tag.name) == CommitEncoder.timeName {
                return "a tag cannot be called \"time\", which is the name of the row time in "
                    + "queries; rename it"
            }
            if identity.contains(tag.name) {
                keySizeBytes += tag.name.utf8.count + tag.value.utf8.count + 4
            } else if schema?.attribute(tag.name) == nil {
                newCount += 1
            }
        }
        if keySizeBytes > DatabaseOptions.seriesKeySizeBytesMax {
            return "the identity tags of the row have \(keySizeBytes) bytes, expected at most "
                + "\(DatabaseOptions.seriesKeySizeBytesMax)"
        }
        let columnCount = schema?.columnCount ?? 0
        if newCount > 0, columnCount + newCount > options.columnCountMax {
            return "\(newCount) new tags in addition to \(columnCount) fields and tags exceed the "
                + "maximum of an experiment, \(options.columnCountMax) (columnCountMax)"
        }
        return nil
    }

    /// Limits the number of experiments, which declarations create too.
    func checkExperiments(_ batch: borrowing WriteBatch) throws(DatabaseError) {
        let declared = Set(batch.declarations.map { Name(batch.experiments.text($0.experiment)) })
        let newCount = declared.count { schemas.named($0.text) == nil }
        guard newCount > 0, schemas.count + newCount > options.experimentCountMax else { return }
        throw DatabaseError(
            .limitExceeded,
            "\(newCount) new experiments in addition to \(schemas.count) exceed the maximum of a "
                + "database, \(options.experimentCountMax) (experimentCountMax)")
    }

    /// Checks that the new schemas fit into a manifest and the refusals into a commit.
    ///
    /// - Parameter journalCount: the number of journal entries in the commit.
    func checkLimits(journalCount: Int) throws(DatabaseError) {
        guard journalCount <= LogFormat.journalCountMax else {
            throw DatabaseError(
                .limitExceeded,
                "the batch has \(journalCount) refused lines and values, expected at most "
                    + "\(LogFormat.journalCountMax); nothing was stored. Split the batch")
        }
        guard !changes.isEmpty, schemas.sizeBytes > DatabaseOptions.schemasSizeBytesMax else {
            return
        }
        throw DatabaseError(
            .limitExceeded,
            "with this batch, the schemas (names, units, notes and declarations) of all "
                + "experiments take \(schemas.sizeBytes) bytes, expected at most "
                + "\(DatabaseOptions.schemasSizeBytesMax); nothing was stored")
    }
}
