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
    /// The place of the first byte in the buffer.
    private var origin = JSONPlace()
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

    /// A file begins; what was left of the one before is forgotten.
    package mutating func begin() {
        buffer.removeAll()
        origin = JSONPlace()
        kept = nil
        isFileStart = true
        scanner.text = buffer.bytes
        scanner.isLast = false
        scanner.restart(at: 0)
    }

    /// Reads one token; never `incomplete`.
    ///
    /// - Throws: as `InputFile.read`; `limitExceeded` where a token, or what is kept, is longer
    ///   than `keptSizeBytesMax`.
    @inline(__always)
    package mutating func next(from file: InputFile) throws(DatabaseError) -> JSONToken {
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

    /// The place of an index of the buffer in the file.
    package func place(of index: Int) -> JSONPlace {
        origin.advanced(from: 0, to: index, of: scanner.text)
    }

    /// `line 3, column 7: found "}", expected a value`: what is wrong after `invalid`.
    package var problemMessage: String {
        let problem = scanner.problem
        return "\(place(of: problem.index).description): \(problem.message(in: scanner.text))"
    }

    /// Adds the next bytes of the file behind those that are still needed.
    ///
    /// - Throws: as `next`.
    package mutating func refill(from file: InputFile) throws(DatabaseError) {
        let needed = Swift.min(kept ?? scanner.index, scanner.index)
        origin.advance(over: 0..<needed, of: scanner.text)
        buffer.removeFirst(needed)
        scanner.index -= needed
        if kept != nil { kept = kept.map { $0 - needed } }
        guard buffer.count <= keptSizeBytesMax else {
            throw DatabaseError(
                .limitExceeded,
                "\(origin.description): JSON of more than \(keptSizeBytesMax) bytes without an "
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

    private mutating func skipByteOrderMark() {
        let bytes = buffer.bytes
        guard bytes.count >= 3 || scanner.isLast else { return }
        isFileStart = false
        if bytes.count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF {
            scanner.index = Swift.max(3, scanner.index)
        }
    }
}
