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

    init(descriptor: Int32, name: String) {
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
    ///
    /// - Throws: `limitExceeded` as soon as there is more than that, `usage` for what is no text;
    ///   as `next`.
    mutating func text(_ limit: InputLimit) throws(DatabaseError) -> String {
        var bytes: [UInt8] = []
        while true {
            let piece = try next()
            if piece.isEmpty { break }
            if bytes.isEmpty, piece.starts(with: [0x1F, 0x8B]) {
                throw DatabaseError(
                    .usage,
                    "found gzip data, expected text; unpack it first: zcat FILE.gz | cozdb ... -",
                    file: name)
            }
            bytes.append(contentsOf: piece)
            if bytes.count > limit.sizeBytes {
                throw DatabaseError(
                    .limitExceeded,
                    "found more than \(limit.sizeBytes) bytes of text, expected at most so many"
                        + limit.advice,
                    file: name)
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw DatabaseError(
                .usage, "found bytes that are not UTF-8, expected text", file: name)
        }
        return text
    }

    /// The text of a file; `-` is standard input.
    ///
    /// - Throws: `notFound` when the file cannot be opened; as `text`.
    static func text(of path: String, _ limit: InputLimit) throws(DatabaseError) -> String {
        if path == "-" {
            try checkStandardInput()
            var input = InputReader.standardInput
            return try input.text(limit)
        }
        let descriptor = try FileOpening.open(path, O_RDONLY)
        guard descriptor >= 0 else {
            throw DatabaseError(.notFound, SystemMessage.text(errno), file: path)
        }
        defer { close(descriptor) }
        var file = InputReader(descriptor: descriptor, name: path)
        return try file.text(limit)
    }
}

/// How much text a command takes from one input: all of it is in memory at once.
struct InputLimit {
    let sizeBytes: Int
    /// What to do about it; begins with a semicolon.
    var advice = ""

    /// The description of a survey; the app's own are of a few kilobytes.
    static let survey = InputLimit(sizeBytes: 16 << 20)
    /// A list of forgotten participants, of some 70 bytes each.
    static let forgotten = InputLimit(sizeBytes: 64 << 20)

    /// Statements.
    static func statements(_ limits: QueryLimits) -> InputLimit {
        InputLimit(
            sizeBytes: limits.textSizeBytesMax,
            advice: "; run fewer statements at a time, or raise the limit with --max-text")
    }
}
