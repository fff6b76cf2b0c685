// A first pass over an export: which databases and policies it has points of. It looks at
// comments only, so it runs at the speed of memchr.

internal import CozDB

enum ExportScan {
    /// Whether the first bytes of a file look like those of an export with contexts.
    static func mayHaveContexts(_ head: [UInt8]) -> Bool {
        let blanks: [UInt8] = [space, tab, newline, carriageReturn, 0xEF, 0xBB, 0xBF]
        guard let first = head.first(where: { !blanks.contains($0) }) else { return false }
        // "skipped missing file: " may be glued in front of everything else.
        return first == hash || first == UInt8(ascii: "s")
    }

    /// Reads a file to its end and returns what it found of contexts that have points.
    ///
    /// A comment inside a string that spans lines is taken for one; the worst that can come of it
    /// is that the import asks for a choice.
    static func contexts(
        of file: InputFile, chunkSize: Int = 1 << 20
    ) throws(DatabaseError) -> [ExportContext] {
        var reader = ExportReader()
        var buffer = PaddedBuffer(capacity: chunkSize)
        var isBelowComment = false
        while true {
            let before = buffer.count
            unsafe try buffer.append(upTo: chunkSize) {
                (target) throws(DatabaseError) -> Int in
                unsafe try file.read(into: target)
            }
            let isEnd = buffer.count == before
            let bytes = buffer.bytes
            let end =
                isEnd
                ? bytes.count : bytes.lastIndex(of: newline, in: 0..<bytes.count).map { $0 + 1 }
            if let end {
                scan(bytes, end, &reader, &isBelowComment)
                buffer.removeFirst(end)
            } else if buffer.count > LineProtocolParser.lineSizeBytesMax {
                buffer.removeAll()
            }
            if isEnd { return reader.found }
        }
    }

    private static func scan(
        _ bytes: PaddedBytes, _ end: Int, _ reader: inout ExportReader,
        _ isBelowComment: inout Bool
    ) {
        var index = 0
        while index < end {
            if isBelowComment {
                while index < end && (bytes[index] <= space) { index += 1 }
                guard index < end else { return }
                isBelowComment = false
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
            isBelowComment = true
            index = lineEnd
        }
    }
}
