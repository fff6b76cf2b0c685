// Converts an item of a payload to a row: required members, time, experiment and tags.

internal import CozDB
internal import CozImport

extension PayloadDecoder {
    /// Stores the item read last, or refuses it with a list of all its faults.
    mutating func store(_ text: PaddedBytes, at base: Int, _ batch: inout WriteBatch) {
        var faults = item.faults
        let time = time(text, base, &faults)
        let experiment = experiment(text, base, &batch, &faults)
        var tagSet: WriteBatch.TagSetHandle?
        if let experiment { tagSet = self.tagSet(text, base, experiment, &batch, &faults) }
        if !item.hasFields { faults.append("missing fields") }
        if faults.isEmpty, let time, let experiment, let tagSet {
            let row = PayloadRow(
                experiment: experiment, time: time.nanoseconds, offset: time.offsetMinutes,
                text: text, base: base)
            let refusedBefore = batch.refusals.count
            if appendFields(row, &batch) {
                batch.endRow(tagSet: tagSet, time: row.time, line: rowNumber)
                return
            }
            batch.abandonRow()
            if batch.refusals.count > refusedBefore {
                // Every value was refused on its own.
                batch.keepAttributes(ofRefusalsFrom: refusedBefore)
                return
            }
            faults.append("no field has a value")
        }
        var ignored: [String] = []
        let tag = participantTag(text, base)
        // `id_participant` names a participant in every experiment.
        let found = tags(text, base, &ignored)
        let owner =
            found.last { settings.renames.stored($0.name).utf8.elementsEqual(tag.utf8) }
            ?? found.last { $0.name == "id_participant" }
        refuseItem(
            text.copy(base..<(base + item.size)), faults.joined(separator: "; "),
            participant: owner?.value, &batch)
    }

    private mutating func time(
        _ text: PaddedBytes, _ base: Int, _ faults: inout [String]
    ) -> PayloadTime.Reading? {
        guard let member = item.time, member.token != .null else {
            faults.append("missing time")
            return nil
        }
        guard member.token == .string else {
            faults.append(
                "time is \(member.token.kindName), expected text such as "
                    + "2022-09-01T07:02:51.578+0800")
            return nil
        }
        var times = times
        let reading: PayloadTime.Reading?
        if member.value.hasEscapes {
            let bytes = bytes(member.value, text, base)
            reading = times.read(bytes.span)
        } else {
            reading = text.withSpan(range(member.value, base)) { times.read($0) }
        }
        self.times = times
        if reading == nil {
            faults.append(PayloadTime.reason(string(member.value, text, base)))
        }
        return reading
    }

    private mutating func experiment(
        _ text: PaddedBytes, _ base: Int, _ batch: inout WriteBatch, _ faults: inout [String]
    ) -> WriteBatch.ExperimentHandle? {
        guard let member = item.measurement, member.token != .null else {
            faults.append("missing measurement")
            return nil
        }
        let range = range(member.value, base)
        let isText = member.token == .string
        if isText, let known = caches.experimentKeys.find(text, range, owner: 0) {
            return caches.experiments[known]
        }
        let name = bytes(member.value, text, base)
        guard isText || member.isNumber, PayloadDecoder.isName(name) else {
            faults.append(
                isText || member.isNumber
                    ? "found a measurement name of \(name.count) bytes, expected 1 to "
                        + "\(DatabaseOptions.nameSizeBytesMax) bytes"
                    : "measurement is \(member.token.kindName), expected a string")
            return nil
        }
        let number = batch.experiment(name.span)
        if isText {
            _ = caches.experimentKeys.add(text, range, owner: 0)
            caches.experiments.append(number)
        }
        return number
    }

    // MARK: Tags

    private mutating func tagSet(
        _ text: PaddedBytes, _ base: Int, _ experiment: WriteBatch.ExperimentHandle,
        _ batch: inout WriteBatch, _ faults: inout [String]
    ) -> WriteBatch.TagSetHandle? {
        // Most items repeat the tags of the previous item byte for byte.
        let range = item.tags.map { ($0.lowerBound + base)..<($0.upperBound + base) } ?? 0..<0
        if let known = caches.tagKeys.find(text, range, owner: experiment.index) {
            return caches.tagSets[known]
        }
        let tags = tags(text, base, &faults)
        guard faults.isEmpty else { return nil }
        let number = batch.tagSet(experiment: experiment, tags: tags)
        _ = caches.tagKeys.add(text, range, owner: experiment.index)
        caches.tagSets.append(number)
        return number
    }

    /// Returns the tags of the item. Numbers and booleans keep their spelling; empty values are
    /// left out.
    mutating func tags(
        _ text: PaddedBytes, _ base: Int, _ faults: inout [String]
    ) -> [(name: String, value: String)] {
        var tags: [(name: String, value: String)] = []
        var places: [[UInt8]: Int] = [:]
        for member in item.members where member.part == .tags && member.token != .null {
            let (name, value) = (string(member.name, text, base), string(member.value, text, base))
            if member.isNested {
                faults.append("tag \"\(name)\" is \(member.token.kindName), expected a string")
            }
            if value.isEmpty { continue }
            if let reason = PayloadDecoder.invalidTagReason(name, value) { faults.append(reason) }
            // The later of two tags with one name wins.
            if let known = places.updateValue(tags.count, forKey: Array(name.utf8)) {
                tags[known].value = value
                places[Array(name.utf8)] = known
            } else {
                tags.append((name, value))
            }
        }
        let tag = participantTag(text, base)
        if !settings.renames.areStored(tags.map(\.name), as: tag) {
            if let participant = settings.participant, !participant.isEmpty {
                if let problem = settings.renames.problem(ofParticipantTag: tag) {
                    faults.append(problem)
                }
                tags.append((tag, participant))
            } else if needsParticipant(text, base) {
                faults.append("missing tags.\(tag)")
            }
        }
        return tags
    }

    private func needsParticipant(_ text: PaddedBytes, _ base: Int) -> Bool {
        guard !settings.experimentsWithoutParticipant.isEmpty, let name = item.measurement else {
            return settings.needsParticipant
        }
        return settings.needsParticipant
            && !settings.experimentsWithoutParticipant.contains(bytes(name.value, text, base))
    }

    /// The tag that names participants in the experiment of the item.
    private func participantTag(_ text: PaddedBytes, _ base: Int) -> String {
        guard !settings.participantTags.isUniform, let name = item.measurement else {
            return settings.participantTags.standard
        }
        return settings.participantTags.tag(of: bytes(name.value, text, base))
    }

    private static func invalidTagReason(_ name: String, _ value: String) -> String? {
        let limit = DatabaseOptions.nameSizeBytesMax
        if name.utf8.elementsEqual("time".utf8) { return "a tag cannot be named time" }
        if name.isEmpty { return "a tag has no name" }
        let size = Swift.max(name.utf8.count, value.utf8.count)
        return size > limit
            ? "found a tag name or value of \(size) bytes, expected at most \(limit) bytes" : nil
    }

    static func isName(_ bytes: [UInt8]) -> Bool {
        (1...DatabaseOptions.nameSizeBytesMax).contains(bytes.count)
    }

    // MARK: Bytes of the item

    func range(_ part: PayloadItem.Text, _ base: Int) -> Range<Int> {
        (part.range.lowerBound + base)..<(part.range.upperBound + base)
    }

    func bytes(_ part: PayloadItem.Text, _ text: PaddedBytes, _ base: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        JSONScanner.append(
            text, range(part, base), hasEscapes: part.hasEscapes, to: &bytes)
        return bytes
    }

    func string(_ part: PayloadItem.Text, _ text: PaddedBytes, _ base: Int) -> String {
        String(decoding: bytes(part, text, base), as: UTF8.self)
    }
}

/// The context shared by all values of an item.
struct PayloadRow {
    var experiment: WriteBatch.ExperimentHandle
    /// Nanoseconds since 1970 UTC.
    var time: Int64
    /// UTC offset in minutes east, or nil if the time has none.
    var offset: Int?
    var text: PaddedBytes
    /// The offset of the item in `text`.
    var base: Int
}

extension PayloadItem.Member {
    var isNumber: Bool { token == .integer || token == .float || token == .hugeNumber }
}
