// Standard input, as it comes.

internal import CozDB
internal import Glibc

/// Reads standard input in pieces; a piece is what is there, so that nobody waits for a full one.
struct StandardInput {
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    /// The next bytes; empty at the end.
    ///
    /// - Throws: `cancelled` after Ctrl-C, `io` when the system refuses.
    mutating func next() throws(DatabaseError) -> ArraySlice<UInt8> {
        while true {
            try DatabaseError.checkInterrupt()
            // The system writes at most as many bytes as the buffer has.
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe read(STDIN_FILENO, bytes.baseAddress, bytes.count)
            }
            if count >= 0 { return buffer[..<count] }
            if errno != EINTR {
                throw DatabaseError(.io, "standard input: \(SystemMessage.text(errno))")
            }
        }
    }

    /// All of it as text.
    mutating func text() throws(DatabaseError) -> String {
        var bytes: [UInt8] = []
        while true {
            let piece = try next()
            if piece.isEmpty { break }
            bytes.append(contentsOf: piece)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw DatabaseError(.usage, "standard input is not UTF-8 text")
        }
        return text
    }
}
