// The tags of a row of a table: those of its columns, its constants and the options.

internal import CozDB

extension TableRows {
    struct TagProblem: Error {
        let reason: String
        /// Nil if no cell is to blame.
        let cell: Int?
    }

    /// Returns the handle of the row's tag set.
    mutating func tagSet(
        _ cells: Int, _ block: CSVBlock, _ batch: inout WriteBatch
    ) -> Result<WriteBatch.TagSetHandle, TagProblem> {
        let text = block.bytes
        tagKey.removeAll(keepingCapacity: true)
        for index in tags {
            let range = block.cells[cells + index].range
            guard range.count <= DatabaseOptions.nameSizeBytesMax else {
                return .failure(
                    TagProblem(
                        reason: "the value of the tag has \(range.count) bytes, expected at most "
                            + "\(DatabaseOptions.nameSizeBytesMax)", cell: index))
            }
            tagKey.append(UInt8(truncatingIfNeeded: range.count))
            tagKey.append(UInt8(truncatingIfNeeded: range.count >> 8))
            text.append(range, to: &tagKey)
        }
        if !lastTagKey.isEmpty && tagKey == lastTagKey { return .success(lastTagSet) }
        let handle: WriteBatch.TagSetHandle
        if let known = plans[current].tagSets[tagKey] {
            handle = known
        } else {
            var tags: [(name: String, value: String)]
            do throws(TagProblem) {
                tags = try tagList(cells, block)
            } catch {
                return .failure(error)
            }
            if let problem = problem(&tags) { return .failure(problem) }
            handle = batch.tagSet(experiment: plans[current].handle, tags: tags)
            plans[current].tagSets[tagKey] = handle
        }
        swap(&tagKey, &lastTagKey)
        lastTagSet = handle
        return .success(handle)
    }

    /// Completes the tags of a row; returns why the row is refused, or nil.
    private func problem(_ list: inout [(name: String, value: String)]) -> TagProblem? {
        let tag = plans[current].participantTag
        let second = TagList.settleParticipant(&list, tag, options)
        if let missing = missingTag(list) { return missing }
        let reason = second ?? TagList.problem(list)
        return reason.map { TagProblem(reason: $0, cell: nil) }
    }

    /// Returns an error for the first empty tag cell that the experiment's identity requires, or
    /// nil.
    private func missingTag(_ list: [(name: String, value: String)]) -> TagProblem? {
        let missing = tags.first { index in
            let name = tagName(layout.columns[index])
            guard layout.columns[index].role != .tagList,
                lookup.needs(name, in: plans[current].name)
            else { return false }
            let stored = options.storedName(of: String(decoding: name, as: UTF8.self)).utf8
            return !list.contains { options.storedName(of: $0.name).utf8.elementsEqual(stored) }
        }
        guard let missing else { return nil }
        let isParticipant = lookup.isStored(
            tagName(layout.columns[missing]), as: plans[current].participantTag)
        // Use the file's name for the participant column; its name in the layout is the tag.
        let title = isParticipant ? options.table.participantColumn : nil
        let expected = isParticipant ? "the participant" : "a tag of the experiment's identity"
        return TagProblem(
            reason: "\"\(title ?? layout.columns[missing].title)\" is empty, expected \(expected)",
            cell: missing)
    }

    /// The name of a column's tag in the current experiment.
    private func tagName(_ column: TableColumn) -> [UInt8] {
        column.isParticipant ? plans[current].participantTag : column.name
    }

    private func tagList(
        _ cells: Int, _ block: CSVBlock
    ) throws(TagProblem) -> [(name: String, value: String)] {
        var list: [(name: String, value: String)] = []
        for column in constantTags {
            list.append((column.title, String(decoding: column.defaultValue, as: UTF8.self)))
        }
        for index in tags {
            let column = layout.columns[index]
            let range = block.cells[cells + index].range
            let isEmpty = range.isEmpty || isNull(block.bytes, range)
            let value = isEmpty ? column.defaultValue : block.bytes.copy(range)
            if value.isEmpty { continue }
            let text = String(decoding: value, as: UTF8.self)
            if column.role == .tagList {
                guard let pairs = TagList.pairs(text) else {
                    throw TagProblem(
                        reason:
                            "found the tags \"\(text)\", expected name=value and commas between "
                            + "them", cell: index)
                }
                list += pairs
            } else {
                list.append((String(decoding: tagName(column), as: UTF8.self), text))
            }
        }
        return list
    }
}
