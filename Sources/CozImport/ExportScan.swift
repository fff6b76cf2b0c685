// A first pass over an export that finds the databases and policies with points. It looks only at
// comments, so it runs at the speed of memchr.

internal import CozDB

enum ExportScan {
    /// Whether a file begins like an export with context comments.
    static func mayHaveContexts(_ head: [UInt8]) -> Bool {
        let blanks: [UInt8] = [space, tab, newline, carriageReturn, 0xEF, 0xBB, 0xBF]
        guard let first = head.first(where: { !blanks.contains($0) }) else { return false }
        // influx_inspect may print "skipped missing file: " before everything else.
        return first == hash || first == UInt8(ascii: "s")
    }

    /// Reads a file to its end and returns the contexts that have points. Large plain files are
    /// read as two halves in parallel.
    ///
    /// A `#` line inside a multi-line string is mistaken for a comment. At worst the import then
    /// asks the user to choose a database.
    static func contexts(
        of file: InputFile, chunkSize: Int = 256 << 10, halvedFrom sizeBytesMin: Int = 8 << 20
    ) throws(DatabaseError) -> [ExportContext] {
        guard let (first, second) = try file.halves(from: sizeBytesMin) else {
            var pass = ExportPass(reader: ExportReader())
            do throws(DatabaseError) {
                unsafe try pass.scan(chunkSize: chunkSize) { (target) throws(DatabaseError) in
                    unsafe try file.read(into: target)
                }
            } catch {
                // The points before the break are stored; reading them meets the error again.
                guard error.kind == .damaged else { throw error }
            }
            return pass.reader.found
        }
        let passes = Monitor([ExportPass?](repeating: nil, count: 2))
        let failure = Monitor<DatabaseError?>(nil)
        Cores.perform(iterations: 2) { index in
            var pass = ExportPass(reader: index == 0 ? ExportReader() : .forMiddleOfFile)
            var part = index == 0 ? first : second
            do throws(DatabaseError) {
                unsafe try pass.scan(chunkSize: chunkSize) { (target) throws(DatabaseError) in
                    unsafe try part.read(into: target)
                }
            } catch {
                failure.withLock { $0 = error }
            }
            passes.withLock { $0[index] = pass }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
        let halves = passes.withLock { $0.compactMap(\.self) }
        var reader = halves[0].reader
        reader.continues(with: halves[1].reader)
        return reader.found
    }
}

/// A pass over an export, or over a part that begins at a line start.
private struct ExportPass {
    private(set) var reader: ExportReader
    private var isAfterComment = true

    init(reader: ExportReader) { self.reader = reader }

    mutating func scan(
        chunkSize: Int,
        _ read: (UnsafeMutableRawBufferPointer) throws(DatabaseError) -> Int
    ) throws(DatabaseError) {
        var buffer = PaddedBuffer(capacity: chunkSize)
        while true {
            let before = buffer.count
            unsafe try buffer.append(upTo: chunkSize) {
                (target) throws(DatabaseError) -> Int in
                unsafe try read(target)
            }
            let isEnd = buffer.count == before
            let bytes = buffer.bytes
            // The bytes from earlier reads contain no newline.
            let end =
                isEnd
                ? bytes.count
                : bytes.lastIndex(of: newline, in: before..<bytes.count).map { $0 + 1 }
            if let end {
                scan(bytes, end)
                buffer.removeFirst(end)
            } else if buffer.count > LineProtocolParser.lineSizeBytesMax {
                buffer.removeAll()
            }
            if isEnd { return }
        }
    }

    private mutating func scan(_ bytes: PaddedBytes, _ end: Int) {
        var index = 0
        while index < end {
            if isAfterComment {
                while index < end && (bytes[index] <= space) { index += 1 }
                guard index < end else { return }
                isAfterComment = false
                if bytes[index] != hash { reader.pointFollows() }
            }
            guard let place = bytes.firstIndex(of: hash, in: index..<end) else { return }
            index = place + 1
            let isGlued =
                place >= 4
                && (bytes.starts(with: ".tsm", at: place - 4, end: end)
                    || bytes.starts(with: ".wal", at: place - 4, end: end))
            guard place == 0 || bytes[place - 1] == newline || isGlued else { continue }
            let lineEnd = bytes.firstIndex(of: newline, in: place..<end) ?? end
            reader.comment(bytes, place..<lineEnd)
            isAfterComment = true
            index = lineEnd
        }
    }
}
