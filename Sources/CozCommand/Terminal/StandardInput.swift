// Standard input and small text files, read with the system's own calls.

internal import CozDB
internal import Glibc

/// Reads a descriptor in pieces; a piece is what is there, so that nobody waits for a full one.
struct InputReader {
    private let descriptor: Int32
    private let name: String
    private static let standardName = "standard input"
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    static var standardInput: InputReader {
        InputReader(descriptor: STDIN_FILENO, name: standardName)
    }

    /// An input that is closed is no empty one: whoever closed it did not mean to hand in nothing.
    ///
    /// - Throws: `io` where the process was started without a standard input.
    static func checkStandardInput() throws(DatabaseError) {
        guard Signals.isInputClosed else { return }
        throw DatabaseError(
            .io, "is closed, expected input. Nothing was done", file: standardName)
    }

    private init(descriptor: Int32, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    /// The next bytes; empty at the end.
    ///
    /// - Throws: `cancelled` after Ctrl-C, `io` when the system refuses.
    mutating func next() throws(DatabaseError) -> ArraySlice<UInt8> {
        while true {
            try DatabaseError.checkInterrupt()
            // The system writes at most as many bytes as the buffer has.
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe read(descriptor, bytes.baseAddress, bytes.count)
            }
            if count >= 0 { return buffer[..<count] }
            if errno != EINTR {
                throw DatabaseError(.io, SystemMessage.text(errno), file: name)
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
        if bytes.starts(with: [0x1F, 0x8B]) {
            throw DatabaseError(
                .usage,
                "found gzip data, expected text; unpack it first: zcat FILE.gz | cozdb ... -",
                file: name)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw DatabaseError(
                .usage, "found bytes that are not UTF-8, expected text", file: name)
        }
        return text
    }

    /// The text of a file; `-` is standard input.
    ///
    /// - Throws: `notFound` when the file cannot be opened; as `next`.
    static func text(of path: String) throws(DatabaseError) -> String {
        if path == "-" {
            try checkStandardInput()
            var input = InputReader.standardInput
            return try input.text()
        }
        let descriptor = try FileOpening.open(path, O_RDONLY)
        guard descriptor >= 0 else {
            throw DatabaseError(.notFound, SystemMessage.text(errno), file: path)
        }
        defer { close(descriptor) }
        var file = InputReader(descriptor: descriptor, name: path)
        return try file.text()
    }
}
