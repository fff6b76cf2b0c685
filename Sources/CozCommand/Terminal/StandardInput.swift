// Reads standard input and small text files with system calls.

internal import CozDB
internal import CozPlatform

/// Reads a descriptor in pieces. A piece is what is available, so a read does not wait for a full
/// buffer.
struct InputReader {
    private let descriptor: Int32
    private let name: String
    private static let standardName = "standard input"
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    static var standardInput: InputReader {
        InputReader(descriptor: STDIN_FILENO, name: standardName)
    }

    /// Refuses a closed standard input. It is not an empty one: the caller did not mean to pass no
    /// data.
    ///
    /// - Throws: `io` if the process was started without standard input.
    static func checkStandardInput() throws(DatabaseError) {
        guard Signals.isInputClosed else { return }
        throw DatabaseError(
            .io, "found it closed, expected input. Nothing was done", file: standardName)
    }

    init(descriptor: Int32, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    /// Reads the next bytes; empty at the end.
    ///
    /// - Throws: `cancelled` after Ctrl-C; `io` if the read fails.
    mutating func next() throws(DatabaseError) -> ArraySlice<UInt8> {
        while true {
            try DatabaseError.checkInterrupt()
            // Sound: the system writes at most as many bytes as the buffer has.
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe read(descriptor, bytes.baseAddress, bytes.count)
            }
            if count >= 0 { return buffer[..<count] }
            if errno == EAGAIN {
                FileOpening.wait(for: POLLIN, on: descriptor)
            } else if errno != EINTR {
                throw DatabaseError(.io, SystemMessage.text(errno), file: name)
            }
        }
    }

    /// Reads everything as text, without the byte order mark that some editors write.
    ///
    /// - Throws: `limitExceeded` as soon as the limit is exceeded; `usage` if it is not text;
    ///   errors of `next`.
    mutating func text(_ limit: InputLimit) throws(DatabaseError) -> String {
        var bytes: [UInt8] = []
        while true {
            let piece = try next()
            if piece.isEmpty { break }
            if bytes.isEmpty, piece.starts(with: [0x1F, 0x8B]) {
                throw DatabaseError(
                    .usage,
                    "found gzip data, expected text; decompress it first: "
                        + "zcat FILE.gz | cozdb ... -",
                    file: name)
            }
            bytes.append(contentsOf: piece)
            if bytes.count > limit.sizeBytes {
                throw DatabaseError(
                    .limitExceeded,
                    "found more than \(limit.sizeBytes) bytes of text, expected at most that many"
                        + limit.advice,
                    file: name)
            }
        }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        if bytes.starts(with: mark) { bytes.removeFirst(mark.count) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw DatabaseError(
                .usage, "found bytes that are not UTF-8, expected text", file: name)
        }
        return text
    }

    /// Reads the text of a file; `-` is standard input.
    ///
    /// - Throws: `notFound` if the file cannot be opened; errors of `text`.
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

/// The maximum size of a text input, which is held in memory.
struct InputLimit {
    let sizeBytes: Int
    /// What the user can do about it; begins with a semicolon.
    var advice = ""

    /// A survey; those of the app have a few kilobytes.
    static let survey = InputLimit(sizeBytes: 16 << 20)
    /// A list of forgotten participants, with about 70 bytes each.
    static let forgotten = InputLimit(sizeBytes: 64 << 20)

    static func statements(_ limits: QueryLimits) -> InputLimit {
        InputLimit(
            sizeBytes: limits.textSizeBytesMax,
            advice: "; run fewer statements at a time, or raise the limit with --max-text")
    }
}
