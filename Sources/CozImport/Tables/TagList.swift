// The tags of a row, as importers of tables and objects collect them.

internal import CozDB

enum TagList {
    /// Returns the first tag that cannot be stored, as a message; nil if all can.
    static func problem(_ tags: [(name: String, value: String)]) -> String? {
        let sizeMax = DatabaseOptions.nameSizeBytesMax
        var values: [[UInt8]: String] = [:]
        for (name, value) in tags {
            let known = values.updateValue(value, forKey: Array(name.utf8)) ?? value
            guard known.utf8.elementsEqual(value.utf8) else {
                return "found two values of the tag \"\(name.prefix(60))\", "
                    + "\"\(known.prefix(60))\" and \"\(value.prefix(60))\", expected one"
            }
            guard (1...sizeMax).contains(name.utf8.count) else {
                return "the name of a tag has \(name.utf8.count) bytes, expected 1 to \(sizeMax)"
            }
            if value.utf8.count > sizeMax {
                return "the value of the tag \"\(name.prefix(60))\" has \(value.utf8.count) bytes, "
                    + "expected at most \(sizeMax)"
            }
        }
        return nil
    }

    /// Adds the participant of the options to a list without one. Returns an error if the column
    /// that an option names is not the only one that names the participant.
    ///
    /// - Parameter tag: the tag that names participants.
    static func settleParticipant(
        _ tags: inout [(name: String, value: String)], _ tag: [UInt8], _ options: ImportOptions
    ) -> String? {
        let name = String(decoding: tag, as: UTF8.self)
        if let participant = options.participant, !participant.isEmpty,
            !options.stored.areStored(tags.map(\.name), as: name)
        {
            if let problem = options.stored.problem(ofParticipantTag: name) { return problem }
            tags.insert((name, participant), at: 0)
            return nil
        }
        let count = tags.count { tag.elementsEqual(options.storedName(of: $0.name).utf8) }
        guard count > 1, let column = options.table.participantColumn else { return nil }
        return "found \"\(column)\" and \"\(name)\", which both name the participant; skip one of "
            + "them"
    }

    /// Parses `host=a,region=b`. A part without `=` belongs to the value before it; nil if there is
    /// no value before it. A tag without a value is left out: it is the group of rows without it.
    static func pairs(_ text: String) -> [(name: String, value: String)]? {
        var pairs: [(name: String, value: String)] = []
        for piece in text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        {
            let copy = String(decoding: piece, as: UTF8.self)
            if let equals = piece.firstIndex(of: UInt8(ascii: "=")), equals > piece.startIndex {
                pairs.append(
                    (
                        String(decoding: piece[..<equals], as: UTF8.self),
                        String(decoding: piece[piece.index(after: equals)...], as: UTF8.self)
                    ))
            } else if !pairs.isEmpty {
                pairs[pairs.count - 1].value += "," + copy
            } else {
                return nil
            }
        }
        return pairs.filter { !$0.value.isEmpty }
    }
}
