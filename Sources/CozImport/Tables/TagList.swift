// The tags of a row, as importers of tables and objects collect them.

internal import CozDB

enum TagList {
    /// Returns the first tag that cannot be stored, as a message; nil if all can.
    static func problem(_ tags: [(name: String, value: String)]) -> String? {
        let sizeMax = DatabaseOptions.nameSizeBytesMax
        for (name, value) in tags {
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

    /// Returns an error if several places name the participant, and an option or their values say
    /// that they differ; else adds the participant of the options to a list without one.
    ///
    /// - Parameter tag: the tag that names participants.
    static func settleParticipant(
        _ tags: inout [(name: String, value: String)], _ tag: [UInt8], _ options: ImportOptions
    ) -> String? {
        let found = tags.filter { tag.elementsEqual(options.storedName(of: $0.name).utf8) }
        guard let first = found.first, let last = found.last else {
            if let participant = options.participant, !participant.isEmpty {
                tags.insert((String(decoding: tag, as: UTF8.self), participant), at: 0)
            }
            return nil
        }
        if found.count == 1 { return nil }
        let name = String(decoding: tag, as: UTF8.self)
        if let column = options.table.participantColumn {
            return "found \"\(column)\" and \"\(name)\", which both name the participant; skip one "
                + "of them"
        }
        guard !first.value.utf8.elementsEqual(last.value.utf8) else { return nil }
        return "found two values of \"\(name)\", \"\(first.value.prefix(60))\" and "
            + "\"\(last.value.prefix(60))\", expected one participant"
    }

    /// Parses `host=a,region=b`. A part without `=` belongs to the value before it; nil if there is
    /// no value before it.
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
        return pairs
    }
}
