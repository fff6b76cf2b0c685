// Splits text of any form into what could be names.

/// The words of a text, by several definitions of a word.
enum NamedWords {
    /// Whether a name has letters, digits and the like only.
    static func isSingle(_ name: [UInt8]) -> Bool { name.allSatisfy(isWordByte) }

    /// The first run of letters, digits and the like in a name; nil if there is none.
    static func firstWord(of name: [UInt8]) -> Name? {
        let words = name.split(maxSplits: 1, whereSeparator: { !isWordByte($0) })
        return words.first.map { word in
            let end = word.firstIndex { !isWordByte($0) } ?? word.endIndex
            return Name(String(decoding: word[..<end], as: UTF8.self))
        }
    }

    /// Adds the words of a text: its table cells, and its words by several definitions of a
    /// separator.
    static func collect(_ text: [UInt8], _ words: inout Set<Name>) {
        collectCells(text, &words)
        collectEscaped(text, &words)
        for separators in [
            // Between two quotes or delimiters of a table, even if another quote is missing.
            Array("\"".utf8), Array(",;\t\r\n".utf8),
            Array(" \t\r\n,;=\"'(){}[]".utf8), Array(" \t\r\n,;:=\"'/\\(){}[]".utf8),
            // Several words between quotes or other delimiters.
            Array("\t\r\n,;=\"'(){}[]|<>".utf8),
        ] {
            for word in text.split(whereSeparator: { separators.contains($0) }) {
                insert(word, &words)
            }
        }
        for word in text.split(whereSeparator: { !isWordByte($0) }) { insert(word, &words) }
        for word in text.split(whereSeparator: { !isWordByte($0) && $0 != UInt8(ascii: "-") }) {
            insert(word, &words)
        }
    }

    /// Adds the words between separators of line protocol, which a backslash escapes.
    private static func collectEscaped(_ text: [UInt8], _ words: inout Set<Name>) {
        var word: [UInt8] = []
        var isEscaped = false
        for byte in text {
            if !isEscaped, byte == UInt8(ascii: "\\") {
                isEscaped = true
                continue
            }
            if !isEscaped, " ,=\"\t\r\n".utf8.contains(byte) {
                insert(word, &words)
                word.removeAll(keepingCapacity: true)
            } else {
                word.append(byte)
            }
            isEscaped = false
        }
        insert(word, &words)
    }

    private static func insert(_ word: some Collection<UInt8>, _ words: inout Set<Name>) {
        guard !word.isEmpty, word.count <= DatabaseOptions.nameSizeBytesMax else { return }
        words.insert(Name(String(decoding: word, as: UTF8.self)))
    }

    /// Adds the cells between commas, semicolons, tabs and line ends, quoted or not.
    private static func collectCells(_ text: [UInt8], _ words: inout Set<Name>) {
        let quote = UInt8(ascii: "\"")
        var cell: [UInt8] = []
        var isQuoted = false
        for byte in text {
            if byte == quote {
                // A doubled quote in a quoted cell is a literal quote.
                if !isQuoted, cell.last != quote, !cell.isEmpty { cell.append(quote) }
                isQuoted.toggle()
            } else if !isQuoted, ",;\t\r\n".utf8.contains(byte) {
                insert(cell, &words)
                cell.removeAll(keepingCapacity: true)
            } else {
                cell.append(byte)
            }
        }
        insert(cell, &words)
    }

    /// Whether a range of a text begins and ends where its words do.
    static func isWhole(_ range: Range<Int>, in text: [UInt8]) -> Bool {
        let (start, end) = (range.lowerBound, range.upperBound)
        return
            !(start > 0 && isWordByte(text[start]) && isWordByte(text[start - 1])
            || end < text.count && isWordByte(text[end - 1]) && isWordByte(text[end]))
    }

    private static func isWordByte(_ byte: UInt8) -> Bool { byte.isWord || byte >= 0x80 }

    /// Returns a text without the escapes of JSON, CSV and line protocol; nil if it has none. A
    /// wrong escape stays.
    static func unescaped(_ text: [UInt8]) -> [UInt8]? {
        let (backslash, quote) = (UInt8(ascii: "\\"), UInt8(ascii: "\""))
        let isDoubled = { (pair: (UInt8, UInt8)) in pair == (quote, quote) }
        guard text.contains(backslash) || zip(text, text.dropFirst()).contains(where: isDoubled)
        else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            let byte = text[index]
            let next = index + 1 < text.count ? text[index + 1] : nil
            index += 1
            if byte == backslash, next == UInt8(ascii: "u"),
                let (scalar, end) = scalar(text, at: index - 1)
            {
                result.append(contentsOf: Array(String(scalar).utf8))
                index = end
            } else if byte == backslash, let next {
                result.append(next)
                index += 1
            } else {
                result.append(byte)
                if byte == quote, next == quote { index += 1 }
            }
        }
        return result
    }

    /// Returns the scalar of `\u00eb` or of a surrogate pair, and its end; nil for anything else.
    private static func scalar(_ text: [UInt8], at start: Int) -> (Unicode.Scalar, end: Int)? {
        guard let first = codeUnit(text, at: start) else { return nil }
        if let scalar = Unicode.Scalar(first) { return (scalar, start + 6) }
        guard let second = codeUnit(text, at: start + 6) else { return nil }
        let pair = String(decoding: [UInt16(first), UInt16(second)], as: UTF16.self)
        guard pair.unicodeScalars.count == 1, let scalar = pair.unicodeScalars.first else {
            return nil
        }
        return (scalar, start + 12)
    }

    private static func codeUnit(_ text: [UInt8], at start: Int) -> UInt32? {
        guard start + 6 <= text.count, text[start] == UInt8(ascii: "\\"),
            text[start + 1] == UInt8(ascii: "u")
        else { return nil }
        return UInt32(String(decoding: text[(start + 2)..<(start + 6)], as: UTF8.self), radix: 16)
    }
}
