// Standard output and standard error, written with the system's own calls: buffered where much is
// written, at once where somebody waits for each line.

internal import CozDB
internal import Glibc

/// Collects bytes and writes them to a file descriptor in large pieces.
///
/// When the reader goes away (a closed pipe) the rest is dropped silently: that is no error.
/// One owner, one thread.
final class OutputWriter {
    private static let bufferSizeBytes = 1 << 16

    private var descriptor: Int32?
    /// Takes the place of the descriptor when there is more than a terminal has room for.
    private var pager: Pager?
    private var buffer: [UInt8] = []
    /// Where somebody looks at a terminal; nil: the bytes go as they are.
    private var terminal: TerminalText?
    /// Whether the reader went away; nothing more needs to be produced.
    private(set) var isClosed = false
    private var failure: DatabaseError?
    /// Of the descriptor, for errors.
    private let name: String
    /// Time spent waiting for the system to take the bytes.
    private(set) var writing = Duration.zero

    /// - Parameters:
    ///   - descriptor: nil only collects; `collected` has it all.
    ///   - name: of the descriptor, for errors.
    init(descriptor: Int32? = STDOUT_FILENO, name: String = "standard output") {
        self.descriptor = descriptor
        self.name = name
        pager = nil
        terminal = TerminalText(behind: descriptor)
        buffer.reserveCapacity(OutputWriter.bufferSizeBytes + 4_096)
    }

    /// Standard output, by way of a pager where that is needed. `flush` ends the output then, and
    /// waits for whoever reads.
    init(pager: Pager?) {
        descriptor = STDOUT_FILENO
        name = "standard output"
        terminal = TerminalText(behind: STDOUT_FILENO)
        self.pager = pager
    }

    func append(_ text: String) {
        buffer.append(contentsOf: text.utf8)
        if buffer.count >= OutputWriter.bufferSizeBytes { drain() }
    }

    func append(_ bytes: some Sequence<UInt8>) {
        buffer.append(contentsOf: bytes)
        if buffer.count >= OutputWriter.bufferSizeBytes { drain() }
    }

    /// Writes what is collected.
    ///
    /// - Throws: `io` when this or an earlier write failed for another reason than a closed pipe.
    func flush() throws(DatabaseError) {
        drain(isLast: true)
        pager?.finish()
        if let failure {
            self.failure = nil
            isClosed = true
            throw failure
        }
    }

    /// What was not written yet.
    var collected: [UInt8] { buffer }

    private func drain(isLast: Bool = false) {
        startPager(isLast)
        guard let descriptor else { return }
        if !isClosed, failure == nil {
            let start = ContinuousClock.now
            defer { writing += ContinuousClock.now - start }
            let bytes = terminal?.escaped(buffer, isLast: isLast) ?? buffer
            let status = OutputWriter.write(bytes, to: descriptor)
            if status == EPIPE {
                isClosed = true
            } else if status != 0 {
                failure = DatabaseError(
                    .io,
                    "\(name): \(SystemMessage.text(status)); the answer is incomplete. "
                        + "Make room or send it elsewhere, then run the command again")
            }
        }
        buffer.removeAll(keepingCapacity: true)
    }

    /// What fits on the screen goes there without a pager, so the first piece is held back until
    /// it is the last one, or too long.
    private func startPager(_ isLast: Bool) {
        guard let pager, !pager.isRunning, !isLast || pager.isNeeded(for: buffer) else { return }
        if let input = pager.start() { descriptor = input } else { self.pager = nil }
    }

    /// Writes all bytes; 0 or the system's error number.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        var start = 0
        while start < bytes.count {
            // The buffer lives through the call and start is inside it.
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress! + start, bytes.count - start)
            }
            if count >= 0 {
                start += count
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}

/// Lines for people and scripts on standard error, unbuffered; failures to write them are ignored.
enum StandardError {
    static func write(_ text: String) {
        var terminal = TerminalText(behind: STDERR_FILENO)
        let bytes = Array(text.utf8)
        _ = OutputWriter.write(terminal?.escaped(bytes) ?? bytes, to: STDERR_FILENO)
    }

    static func writeLine(_ text: String) {
        write(text + "\n")
    }

    /// Text of our own that steers the terminal.
    static func draw(_ text: String) {
        _ = OutputWriter.write(Array(text.utf8), to: STDERR_FILENO)
    }
}

/// The system's words for an error number.
enum SystemMessage {
    static func text(_ number: Int32) -> String {
        // The text is constant or lives in this thread until its next call.
        guard let message = unsafe strerror(number) else { return "error \(number)" }
        return unsafe String(cString: message)
    }
}
