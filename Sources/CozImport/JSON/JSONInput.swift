// Reads JSON documents from a file through a buffer that can retain a range of bytes.

package import CozDB

/// Feeds a scanner from a file. Memory is bounded by the longest token or retained range.
package struct JSONInput: ~Copyable {
    /// Bytes per read: few enough to be in the processor's cache when parsed.
    static let chunkSizeBytes = 1 << 18

    /// The scanner. Indices of a token are valid until the next call of `next`, or longer with
    /// `keep`.
    package var scanner: JSONScanner
    /// Maximum bytes of a token or of the retained range.
    package let keptSizeBytesMax: Int

    private var buffer = PaddedBuffer(capacity: 1 << 16)
    /// The last position computed, and its index in the buffer.
    private var known = JSONPlace()
    private var knownIndex = 0
    /// Start of the retained range; nil: only the current token is retained.
    private var kept: Int?
    private var isFileStart = true

    /// - Parameters:
    ///   - acceptsTrailingCommas: whether one comma before a closing bracket or brace is allowed.
    ///   - keptSizeBytesMax: maximum bytes of a token or of the retained range.
    package init(acceptsTrailingCommas: Bool = false, keptSizeBytesMax: Int = 64 << 20) {
        self.keptSizeBytesMax = keptSizeBytesMax
        scanner = JSONScanner(
            buffer.bytes, isLast: false, acceptsTrailingCommas: acceptsTrailingCommas,
            acceptsSeveralDocuments: true)
    }

    /// Reads bytes in memory instead of a file.
    ///
    /// - Parameters: as in the other initializer.
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

    /// Begins a file and forgets the previous one.
    package mutating func begin() {
        buffer.removeAll()
        (known, knownIndex) = (JSONPlace(), 0)
        kept = nil
        isFileStart = true
        scanner.text = buffer.bytes
        scanner.isLast = false
        scanner.restart(at: 0)
    }

    /// Reads one token; never returns `incomplete`.
    ///
    /// - Parameter file: the file; nil if the bytes are in memory.
    /// - Throws: as `InputFile.read`; `limitExceeded` if a token or the retained range is longer
    ///   than `keptSizeBytesMax`.
    @inline(__always)
    package mutating func next(from file: InputFile?) throws(DatabaseError) -> JSONToken {
        while true {
            let token = scanner.next()
            if token != .incomplete { return token }
            try refill(from: file)
        }
    }

    /// Skips the rest of an object or array whose first token was the last one; false if the JSON
    /// is invalid.
    ///
    /// - Throws: as `next`.
    mutating func skipNested(from file: InputFile?) throws(DatabaseError) -> Bool {
        var depth = 1
        while depth > 0 {
            switch try next(from: file) {
            case .objectStart, .arrayStart: depth += 1
            case .objectEnd, .arrayEnd: depth -= 1
            case .invalid, .end: return false
            default: break
            }
        }
        return true
    }

    /// Retains the bytes from `index` on until `release`. Reading more can shift indices, by the
    /// same amount as `keptStart`.
    package mutating func keep(from index: Int) {
        kept = index
    }

    /// The current start of the retained range.
    package var keptStart: Int { kept ?? scanner.index }

    /// Ends retention.
    package mutating func release() {
        kept = nil
    }

    /// Returns the file position of a buffer index. Indices must not decrease from call to call;
    /// each byte is scanned once.
    package mutating func place(of index: Int) -> JSONPlace {
        guard index >= knownIndex else { return known }
        known.advance(over: knownIndex..<Swift.min(index, buffer.count), of: buffer.bytes)
        knownIndex = Swift.min(index, buffer.count)
        return known
    }

    /// Describes the error after `invalid`: `line 3, column 7: found "}", expected a value`.
    package mutating func problemMessage() -> String {
        let problem = scanner.problem
        return "\(place(of: problem.index).description): \(problem.message(in: scanner.text))"
    }

    /// Refills the buffer for a scanner that was moved out and returned `incomplete`.
    package mutating func refill(
        _ taken: inout JSONScanner, from file: InputFile?
    ) throws(DatabaseError) {
        scanner = taken
        defer { taken = scanner }
        try refill(from: file)
    }

    /// Reads the next bytes of the file into the buffer and drops bytes that are not retained.
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
                "\(place.description): a JSON value of more than \(keptSizeBytesMax) bytes; "
                    + "expected values of a few kilobytes",
                file: file.name)
        }
        let before = buffer.count
        // Doubling limits how often a long token is scanned.
        let wanted = Swift.max(JSONInput.chunkSizeBytes, before)
        unsafe try buffer.append(upTo: wanted) { (target) throws(DatabaseError) -> Int in
            unsafe try file.read(into: target)
        }
        scanner.isLast = buffer.count == before
        scanner.text = buffer.bytes
        if isFileStart { skipByteOrderMark() }
    }

    // MARK: Recovery

    /// Skips invalid input after `invalid`. Starts at the retained range, or at the error if
    /// nothing is retained. Ends at the next line that begins with a bracket or brace, where a new
    /// document begins.
    ///
    /// - Returns: the first skipped bytes, at most `sizeBytesMax`.
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

    /// Skips invalid input in an array of arrays ("rows"). Starts at the retained range, or at the
    /// error if nothing is retained. Ends where the next row begins or the outer array ends.
    ///
    /// Brackets in strings do not count, so that no row is made up of a text. A quote too many or
    /// too few therefore hides all further rows. A brace ends the search: the outer array has
    /// ended, and where is unknown.
    ///
    /// - Parameters:
    ///   - error: the index of the error.
    ///   - nesting: the outer array and what it is in.
    /// - Returns: the first skipped bytes, at most `sizeBytesMax`, and whether there is such a
    ///   place. Without one the input is of no more use.
    /// - Throws: as `InputFile.read`.
    package mutating func recoverRow(
        from file: InputFile?, at error: Int, in nesting: JSONScanner.Nesting, sizeBytesMax: Int
    ) throws(DatabaseError) -> (passed: [UInt8], isFound: Bool) {
        var passed: [UInt8] = []
        var search = RowSearch()
        var error = error
        scanner.index = Swift.min(kept ?? error, error, buffer.count)
        kept = nil
        while true {
            let start = scanner.index
            let found = search.next(in: buffer.bytes, start..<buffer.count, after: error)
            let room = Swift.max(0, sizeBytesMax - passed.count)
            if search.place == .brace {
                return (passed + (try rest(of: file, from: start, sizeBytesMax: room)), false)
            }
            let end = found ?? buffer.count
            passed += buffer.bytes.copy(start..<Swift.max(start, Swift.min(end, start + room)))
            if found == nil && scanner.isLast { return (passed, false) }
            if let found {
                scanner.restart(at: found, in: nesting, isValue: search.place == .row)
                return (passed, true)
            }
            scanner.index = buffer.count
            error -= buffer.count
            try refill(from: file)
        }
    }

    /// Ends the input and returns its first bytes from an index on, at most `sizeBytesMax`. A file
    /// that is damaged further on ends there.
    ///
    /// - Throws: as `InputFile.read`.
    package mutating func rest(
        of file: InputFile?, from index: Int, sizeBytesMax: Int
    ) throws(DatabaseError) -> [UInt8] {
        var rest: [UInt8] = []
        scanner.index = Swift.min(index, buffer.count)
        kept = nil
        while true {
            let start = scanner.index
            let end = Swift.min(buffer.count, start + sizeBytesMax - rest.count)
            rest += buffer.bytes.copy(start..<end)
            scanner.index = buffer.count
            if scanner.isLast || rest.count == sizeBytesMax { return rest }
            do throws(DatabaseError) {
                try refill(from: file)
            } catch {
                guard error.kind == .damaged else { throw error }
                return rest
            }
        }
    }

    /// Whether there is a bracket or brace at an index with only blanks before it on its line.
    private func isBeginning(_ index: Int) -> Bool {
        let bytes = buffer.bytes
        guard bytes[index] == openingBrace || bytes[index] == openingBracket else { return false }
        var before = index
        while before > 0, bytes[before - 1] == space || bytes[before - 1] == tab { before -= 1 }
        return before > 0 && bytes[before - 1] == newline
    }

    /// Returns the index of the next bracket or brace that begins a line, after optional blanks.
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

    /// Returns the index of the last newline, which may precede such a line; the end of the buffer
    /// if there is none.
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

/// Searches for the end of a row in an array of rows, byte by byte.
private struct RowSearch {
    enum Place {
        /// The bracket of the next row.
        case row
        /// The bracket that ends the outer array.
        case end
        case brace
    }

    /// What was found.
    private(set) var place: Place?
    private var isInString = false
    private var isEscaped = false
    /// Whether the last byte, blanks aside, was a closing bracket, or a comma after one.
    private var isAfterRow = false
    private var isAfterComma = false

    /// Returns the index of a place; nil if there is none. Ignores places before `error`.
    mutating func next(in bytes: PaddedBytes, _ range: Range<Int>, after error: Int) -> Int? {
        for index in range {
            let byte = bytes[index]
            if isInString {
                isInString = isEscaped || byte != quote
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            if byte == space || byte == tab || byte == newline || byte == carriageReturn {
                continue
            }
            if index >= error {
                if byte == openingBrace || byte == closingBrace { place = .brace }
                if isAfterRow && byte == closingBracket { place = .end }
                if isAfterComma && byte == openingBracket { place = .row }
                if place != nil { return index }
            }
            isInString = byte == quote
            isAfterComma = isAfterRow && byte == comma
            isAfterRow = byte == closingBracket
        }
        return nil
    }
}
