// The tags of the rows of the researcher API's CSV, and which of them names the participant.

internal import CozDB
internal import CozImport

/// The tags of the rows. Adjacent rows mostly have the same tags.
struct CozieTags {
    private struct Tag {
        var name: [UInt8]
        /// The column in the file, or -1 for the participant of the options.
        var column: Int
        /// The text in the last row; empty without a column.
        var value: [UInt8] = []

        var title: String { String(decoding: name, as: UTF8.self) }
    }

    /// Sorted by name in byte order.
    private var tags: [Tag] = []
    private var participantTag: [UInt8] = []
    /// The participant of rows that name none.
    private var participant: [UInt8] = []
    private var renames = Renames()
    private var experiment = WriteBatch.ExperimentHandle.none
    private var last: WriteBatch.TagSetHandle?

    init() {}

    /// The column `id_participant` becomes the participant tag. A column of that name may be there,
    /// too.
    init(_ header: CozieHeader, _ participantTag: [UInt8], _ options: ImportOptions) {
        self.participantTag = participantTag
        participant = Array((options.participant ?? "").utf8)
        renames = options.stored
        for (column, role) in header.roles.enumerated() where role == .tag {
            let isParticipant = header.names[column].elementsEqual("id_participant".utf8)
            tags.append(
                Tag(name: isParticipant ? participantTag : header.names[column], column: column))
        }
        if !participant.isEmpty, !tags.contains(where: { $0.name == participantTag }) {
            tags.append(Tag(name: participantTag, column: -1))
        }
        tags.sort { $0.name.lexicographicallyPrecedes($1.name) }
    }

    mutating func forgetHandles(experiment: WriteBatch.ExperimentHandle) {
        self.experiment = experiment
        last = nil
    }

    /// Returns whose row it is; nil if the row does not say so.
    func participant(of row: CSVRow, in block: CSVBlock) -> String? {
        var owner = participant
        for tag in tags where tag.column >= 0 && tag.column < row.cells.count {
            let range = block.cells[row.cells.lowerBound + tag.column].range
            let isOwner = tag.name == participantTag || isStoredAsParticipant(tag)
            if isOwner, !range.isEmpty { owner = block.bytes.copy(range) }
        }
        return owner.isEmpty ? nil : String(decoding: owner, as: UTF8.self)
    }

    private func isStoredAsParticipant(_ tag: Tag) -> Bool {
        renames.stored(tag.title).utf8.elementsEqual(participantTag)
    }

    /// - Throws: `usage` for a tag value that is too long, and for two values of one tag.
    mutating func handle(
        _ row: CSVRow, _ block: CSVBlock, in batch: inout WriteBatch
    ) throws(DatabaseError) -> WriteBatch.TagSetHandle {
        for index in tags.indices where tags[index].column >= 0 {
            let range = block.cells[row.cells.lowerBound + tags[index].column].range
            if CozieTags.isEqual(tags[index].value, block.bytes, range) { continue }
            // Also if the row is refused below.
            last = nil
            guard range.count <= DatabaseOptions.nameSizeBytesMax else {
                throw DatabaseError(
                    .usage,
                    "found a tag of \(range.count) bytes, expected at most "
                        + "\(DatabaseOptions.nameSizeBytesMax)")
            }
            tags[index].value = block.bytes.copy(range)
        }
        if let last { return last }
        let present = tags.filter { !$0.value.isEmpty }.map(\.title)
        let name = String(decoding: participantTag, as: UTF8.self)
        let isGiven = renames.areStored(present, as: name)
        try checkParticipant()
        batch.beginTagSet(experiment: experiment)
        for (index, tag) in tags.enumerated() {
            let isSecond = index > 0 && tags[index - 1].name == tag.name
            if isSecond, tag.value.isEmpty || !tags[index - 1].value.isEmpty { continue }
            let isAdded = !isGiven && tag.name == participantTag && tag.value.isEmpty
            let value = isAdded ? participant : tag.value
            if !value.isEmpty { batch.addTag(name: tag.name.span, value: value.span) }
        }
        let handle = batch.endTagSet()
        last = handle
        return handle
    }

    /// - Throws: `usage` if two columns name different participants.
    private func checkParticipant() throws(DatabaseError) {
        let values = tags.filter { $0.name == participantTag && !$0.value.isEmpty }.map(\.value)
        guard let first = values.first, let second = values.first(where: { $0 != first }) else {
            return
        }
        let texts = [first.prefix(60), second.prefix(60), participantTag[...]].map {
            "\"\(String(decoding: $0, as: UTF8.self))\""
        }
        throw DatabaseError(
            .usage,
            "found two participants, \(texts[0]) and \(texts[1]), in \"id_participant\" and "
                + "\(texts[2]), expected one")
    }

    private static func isEqual(
        _ value: [UInt8], _ bytes: PaddedBytes, _ range: Range<Int>
    ) -> Bool {
        guard value.count == range.count else { return false }
        for index in value.indices where value[index] != bytes[range.lowerBound + index] {
            return false
        }
        return true
    }
}
