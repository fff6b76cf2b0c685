// Scans JSON strings eight bytes at a time and validates them in place. Strings are unescaped only
// on request.

extension JSONScanner {
    /// Scans the string whose opening quote is at `open` and sets `contents`.
    ///
    /// - Returns: the index of the closing quote; -1 on failure, with the error in `problem`.
    mutating func scanString(_ open: Int) -> Int {
        let text = text
        var high: UInt64 = 0
        var hasEscapes = false
        var index = open + 1
        while true {
            let word = text.word(index)
            let found =
                PaddedBytes.places(of: quote, in: word)
                | PaddedBytes.places(of: backslash, in: word) | JSONScanner.controls(in: word)
            high |= word
            if found == 0 {
                index += 8
                continue
            }
            index += found.trailingZeroBitCount &>> 3
            let byte = text[index]
            if byte == quote { break }
            if byte != backslash { return failString(index, controlReason(index)) }
            let size = escapeSize(text, index)
            if size == 0 { return -1 }
            hasEscapes = true
            index += size
        }
        let contents = (open + 1)..<index
        if high & 0x8080_8080_8080_8080 != 0, let place = text.firstInvalidUTF8(in: contents) {
            return failString(place, "UTF-8")
        }
        self.contents = contents
        self.hasEscapes = hasEscapes
        return index
    }

    /// Returns a mask with bit 7 set in each byte of `word` below 0x20. Exact only up to and
    /// including the first match.
    @inline(__always) private static func controls(in word: UInt64) -> UInt64 {
        (word &- 0x2020_2020_2020_2020) & ~word & 0x8080_8080_8080_8080
    }

    private mutating func failString(_ index: Int, _ expected: StaticString) -> Int {
        problem = JSONProblem(index: index, expected: expected)
        return -1
    }

    private func controlReason(_ index: Int) -> StaticString {
        index >= text.count
            ? "a closing quote"
            : "a closing quote, or an escape such as \\n for a control character"
    }

    /// Returns the size of the escape at an index, with both halves of a surrogate pair; 0 if it is
    /// invalid, with the error in `problem`.
    private mutating func escapeSize(_ text: PaddedBytes, _ index: Int) -> Int {
        switch text[index + 1] {
        case quote, backslash, UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return 2
        case UInt8(ascii: "u"):
            let unit = JSONScanner.codeUnit(text, index + 2)
            guard unit >= 0 else {
                _ = failString(index, "four hexadecimal digits after \\u")
                return 0
            }
            if unit & 0xF800 != 0xD800 { return 6 }
            let isPair =
                unit < 0xDC00 && text[index + 6] == backslash
                && text[index + 7] == UInt8(ascii: "u")
                && JSONScanner.codeUnit(text, index + 8) & ~0x3FF == 0xDC00
            if isPair { return 12 }
            _ = failString(index, "both halves of a surrogate pair")
            return 0
        default:
            _ = failString(index, "one of \" \\ / b f n r t u after the backslash")
            return 0
        }
    }

    /// Returns the value of four hexadecimal digits, or -1.
    private static func codeUnit(_ text: PaddedBytes, _ start: Int) -> Int {
        var value = 0
        for index in start..<(start + 4) {
            let byte = text[index]
            switch byte {
            case 0x30...0x39: value = value << 4 | Int(byte - 0x30)
            case 0x41...0x46, 0x61...0x66: value = value << 4 | Int((byte | 0x20) - 0x57)
            default: return -1
            }
        }
        return value
    }

    // MARK: Contents

    /// Appends the unescaped text of the last string or key.
    package func appendContents(to bytes: inout [UInt8]) {
        JSONScanner.append(text, contents, hasEscapes: hasEscapes, to: &bytes)
    }

    /// The unescaped text of the last string or key.
    package var string: String {
        guard hasEscapes else {
            return text.withSpan(contents) { span in
                // Sound: the bytes stay in place during the call.
                unsafe span.withUnsafeBufferPointer {
                    unsafe String(decoding: $0, as: UTF8.self)
                }
            }
        }
        var bytes: [UInt8] = []
        appendContents(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the last string or key equals `word`.
    package func contentsEqual(_ word: StaticString) -> Bool {
        if !hasEscapes {
            return contents.count == word.utf8CodeUnitCount
                && text.starts(with: word, at: contents.lowerBound, end: contents.upperBound)
        }
        return string.utf8.elementsEqual(word.description.utf8)
    }

    /// Appends the unescaped contents of a string that the scanner accepted.
    package static func append(
        _ text: PaddedBytes, _ range: Range<Int>, hasEscapes: Bool, to bytes: inout [UInt8]
    ) {
        var index = range.lowerBound
        while index < range.upperBound {
            let rest = index..<range.upperBound
            let end =
                hasEscapes
                ? text.firstIndex(of: backslash, in: rest) ?? rest.upperBound
                : rest.upperBound
            text.withSpan(index..<end) { span in
                // Sound: the buffer is valid during the call and the array copies it.
                unsafe span.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
            }
            index = end
            if index < range.upperBound { index += appendEscape(text, index, to: &bytes) }
        }
    }

    /// Appends the character of an escape; returns the size of the escape.
    private static func appendEscape(
        _ text: PaddedBytes, _ index: Int, to bytes: inout [UInt8]
    ) -> Int {
        switch text[index + 1] {
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0C)
        case UInt8(ascii: "n"): bytes.append(newline)
        case UInt8(ascii: "r"): bytes.append(carriageReturn)
        case UInt8(ascii: "t"): bytes.append(tab)
        case UInt8(ascii: "u"):
            let unit = codeUnit(text, index + 2)
            guard unit & 0xF800 == 0xD800 else {
                append(scalar: UInt32(truncatingIfNeeded: unit), to: &bytes)
                return 6
            }
            let low = codeUnit(text, index + 8)
            append(
                scalar: UInt32(truncatingIfNeeded: 0x10000 + (unit & 0x3FF) << 10 + low & 0x3FF),
                to: &bytes)
            return 12
        case let byte: bytes.append(byte)
        }
        return 2
    }

    private static func append(scalar: UInt32, to bytes: inout [UInt8]) {
        // Always valid: the scanner refuses unpaired surrogates.
        guard let scalar = Unicode.Scalar(scalar) else { return }
        bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.EncodedScalar())
    }
}
