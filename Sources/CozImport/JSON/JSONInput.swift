// A JSON document, or several, read from a file through a buffer that holds what is asked to stay.

package import CozDB

/// Feeds a scanner from a file, with as much memory as the longest token or kept piece needs.
package struct JSONInput: ~Copyable {
    /// Bytes asked for in one read: few enough to be in the processor's cache when parsed.
    static let chunkSizeBytes = 1 << 18

    /// The scanner; indices of its tokens hold until `next` is called again, and as long as
    /// `keep` says.
    package var scanner: JSONScanner
    /// Most bytes that a token, or what is kept, may have.
    package let keptSizeBytesMax: Int

    private var buffer = PaddedBuffer(capacity: 1 << 16)
    /// A place in the file that is known, and its index in the buffer.
    private var known = JSONPlace()
    private var knownIndex = 0
    /// From where on the bytes stay in the buffer; nil: from the token that is read.
    private var kept: Int?
    private var isFileStart = true

    /// - Parameters:
    ///   - acceptsTrailingCommas: one comma before a closing bracket is passed over.
    ///   - keptSizeBytesMax: most bytes that a token, or what is kept, may have.
    package init(acceptsTrailingCommas: Bool = false, keptSizeBytesMax: Int = 64 << 20) {
        self.keptSizeBytesMax = keptSizeBytesMax
        scanner = JSONScanner(
            buffer.bytes, isLast: false, acceptsTrailingCommas: acceptsTrailingCommas,
            acceptsSeveralDocuments: true)
    }

    /// Reads bytes in memory instead of a file.
    ///
    /// - Parameters: as of the other initializer.
    package init(
        bytes: Span<UInt8>, acceptsTrailingCommas: Bool = false,
        acceptsSeveralDocuments: Bool = true
    ) {
        keptSizeBytesMax = .max
        buffer = PaddedBuffer(capacity: bytes.count)
        buffer.append(bytes)
        scanner = JSONScanner(
            buffer.bytes, isLast: true, acceptsTrailingCommas: acceptsTrailingCommas,
            acceptsSeveralDocuments: acceptsSeveralDocuments)
        skipByteOrderMark()
    }

    /// A file begins; what was left of the one before is forgotten.
    package mutating func begin() {
        buffer.removeAll()
        (known, knownIndex) = (JSONPlace(), 0)
        kept = nil
        isFileStart = true
        scanner.text = buffer.bytes
        scanner.isLast = false
        scanner.restart(at: 0)
    }

    /// Reads one token; never `incomplete`.
    ///
    /// - Parameter file: nil where the bytes are in memory.
    /// - Throws: as `InputFile.read`; `limitExceeded` where a token, or what is kept, is longer
    ///   than `keptSizeBytesMax`.
    @inline(__always)
    package mutating func next(from file: InputFile?) throws(DatabaseError) -> JSONToken {
        while true {
            let token = scanner.next()
            if token != .incomplete { return token }
            try refill(from: file)
        }
    }

    /// What is read stays in the buffer from an index on, until `release`. Indices change when
    /// more is read: by as much as `keptStart` does.
    package mutating func keep(from index: Int) {
        kept = index
    }

    /// Where what is kept begins now.
    package var keptStart: Int { kept ?? scanner.index }

    /// Nothing needs to stay.
    package mutating func release() {
        kept = nil
    }

    /// The place of an index of the buffer in the file. Each byte is looked at once while the
    /// indices asked for rise.
    package mutating func place(of index: Int) -> JSONPlace {
        guard index >= knownIndex else { return known }
        known.advance(over: knownIndex..<Swift.min(index, buffer.count), of: buffer.bytes)
        knownIndex = Swift.min(index, buffer.count)
        return known
    }

    /// `line 3, column 7: found "}", expected a value`: what is wrong after `invalid`.
    package mutating func problemMessage() -> String {
        let problem = scanner.problem
        return "\(place(of: problem.index).description): \(problem.message(in: scanner.text))"
    }

    /// The same for a scanner that was taken out, after it said `incomplete`.
    package mutating func refill(
        _ taken: inout JSONScanner, from file: InputFile?
    ) throws(DatabaseError) {
        scanner = taken
        defer { taken = scanner }
        try refill(from: file)
    }

    /// Adds the next bytes of the file behind those that are still needed.
    ///
    /// - Throws: as `next`.
    package mutating func refill(from file: InputFile?) throws(DatabaseError) {
        guard let file else {
            scanner.isLast = true
            return
        }
        let needed = Swift.min(kept ?? scanner.index, scanner.index)
        let place = place(of: needed)
        buffer.removeFirst(needed)
        scanner.index -= needed
        knownIndex -= needed
        kept = kept.map { $0 - needed }
        guard buffer.count <= keptSizeBytesMax else {
            throw DatabaseError(
                .limitExceeded,
                "\(place.description): JSON of more than \(keptSizeBytesMax) bytes without an "
                    + "end to it; expected items of a few kilobytes",
                file: file.name)
        }
        let before = buffer.count
        // What is long gets longer in steps of its own length, so that it is not scanned often.
        let wanted = Swift.max(JSONInput.chunkSizeBytes, before)
        unsafe try buffer.append(upTo: wanted) { (target) throws(DatabaseError) -> Int in
            unsafe try file.read(into: target)
        }
        scanner.isLast = buffer.count == before
        scanner.text = buffer.bytes
        if isFileStart { skipByteOrderMark() }
    }

    // MARK: Going on after a problem

    /// Passes over what is no JSON, after `invalid`: from where keeping began, else from what is
    /// wrong, to the next line that begins with a bracket or brace. A document begins there.
    ///
    /// - Returns: the first bytes of what was passed over, at most `sizeBytesMax`.
    /// - Throws: as `InputFile.read`.
    package mutating func recover(
        from file: InputFile?, sizeBytesMax: Int
    ) throws(DatabaseError) -> [UInt8] {
        var passed: [UInt8] = []
        var index = scanner.problem.index
        scanner.index = Swift.min(kept ?? index, index)
        kept = nil
        while true {
            let end = isBeginning(index) ? index : nextBeginning(from: index)
            let whole = end ?? (scanner.isLast ? buffer.count : lastNewline(from: index))
            let room = Swift.max(0, sizeBytesMax - passed.count)
            let start = scanner.index
            passed += buffer.bytes.copy(start..<Swift.max(start, Swift.min(whole, start + room)))
            scanner.index = Swift.max(start, whole)
            index = scanner.index
            if end != nil || scanner.isLast { break }
            try refill(from: file)
            index = 0
        }
        scanner.restart(at: scanner.index)
        return passed
    }

    /// Whether a bracket or brace at an index is the first byte of its line, blanks apart.
    private func isBeginning(_ index: Int) -> Bool {
        let bytes = buffer.bytes
        guard bytes[index] == openingBrace || bytes[index] == openingBracket else { return false }
        var before = index
        while before > 0, bytes[before - 1] == space || bytes[before - 1] == tab { before -= 1 }
        return before > 0 && bytes[before - 1] == newline
    }

    /// Where a line begins, behind blanks, with a bracket or brace.
    private func nextBeginning(from start: Int) -> Int? {
        let bytes = buffer.bytes
        var index = start
        while let end = bytes.firstIndex(of: newline, in: index..<bytes.count) {
            index = end + 1
            while bytes[index] == space || bytes[index] == tab { index += 1 }
            if bytes[index] == openingBrace || bytes[index] == openingBracket { return index }
        }
        return nil
    }

    /// The last newline, which may be the one before a beginning; else the end.
    private func lastNewline(from start: Int) -> Int {
        let bytes = buffer.bytes
        return bytes.lastIndex(of: newline, in: start..<bytes.count) ?? bytes.count
    }

    private mutating func skipByteOrderMark() {
        let bytes = buffer.bytes
        guard bytes.count >= 3 || scanner.isLast else { return }
        isFileStart = false
        if bytes.count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF {
            scanner.index = Swift.max(3, scanner.index)
        }
    }
}
