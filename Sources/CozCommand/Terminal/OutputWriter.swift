// Standard output and standard error, written with system calls: buffered for large output,
// unbuffered for single lines.

internal import CozDB
internal import CozPlatform

/// Buffers output and writes it to a file descriptor in large pieces.
///
/// If the reader is gone (a closed pipe), the rest is dropped silently; that is no error. Not
/// thread-safe.
final class OutputWriter {
    private static let bufferSizeBytes = 1 << 16

    private var descriptor: Int32?
    /// Replaces the descriptor if the output does not fit the terminal.
    private var pager: Pager?
    private var buffer: [UInt8] = []
    /// Escapes control characters if the descriptor is a terminal; otherwise nil.
    private var terminal: TerminalText?
    /// Whether the reader is gone, so that no more output is needed.
    private(set) var isClosed = false
    private var failure: DatabaseError?
    /// The name of the descriptor for error messages.
    private let name: String
    /// Time spent waiting for write calls.
    private(set) var writing = Duration.zero

    /// - Parameters:
    ///   - descriptor: The target; nil collects everything in `collected`.
    ///   - name: The name of the descriptor for error messages.
    init(descriptor: Int32? = STDOUT_FILENO, name: String = "standard output") {
        self.descriptor = descriptor
        self.name = name
        pager = nil
        terminal = TerminalText(behind: descriptor)
        buffer.reserveCapacity(OutputWriter.bufferSizeBytes + 4_096)
    }

    /// Writes to standard output, through a pager if necessary. In that case `flush` ends the
    /// output and waits for the pager to exit.
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

    /// Writes the buffered bytes.
    ///
    /// - Throws: `io` if this or an earlier write failed, except because of a closed pipe.
    func flush() throws(DatabaseError) {
        drain(isLast: true)
        pager?.finish()
        if let failure {
            self.failure = nil
            isClosed = true
            throw failure
        }
    }

    /// The bytes that are not written yet.
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
                    "\(name): \(SystemMessage.text(status)); the output is incomplete. Free space "
                        + "or write it elsewhere, then run the command again")
            }
        }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Starts the pager if the output is too long for the terminal. Holds the first piece back
    /// until it is the last one or too long.
    private func startPager(_ isLast: Bool) {
        guard let pager, !pager.isRunning, !isLast || pager.isNeeded(for: buffer) else { return }
        if let input = pager.start() { descriptor = input } else { self.pager = nil }
    }

    /// Writes all bytes. Returns 0 or an error number.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        var start = 0
        while start < bytes.count {
            // Sound: the buffer lives through the call, and `start` is inside it.
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress! + start, bytes.count - start)
            }
            if count >= 0 {
                start += count
            } else if errno == EAGAIN {
                FileOpening.wait(for: POLLOUT, on: descriptor)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}

/// Messages on standard error, unbuffered. Write errors are ignored.
enum StandardError {
    static func write(_ text: String) {
        var terminal = TerminalText(behind: STDERR_FILENO)
        let bytes = Array(text.utf8)
        _ = OutputWriter.write(terminal?.escaped(bytes) ?? bytes, to: STDERR_FILENO)
    }

    static func writeLine(_ text: String) {
        write(text + "\n")
    }

    /// Writes the command's own control sequences to the terminal.
    static func draw(_ text: String) {
        _ = OutputWriter.write(Array(text.utf8), to: STDERR_FILENO)
    }
}

enum SystemMessage {
    static func text(_ number: Int32) -> String {
        // Sound: the text is constant or lives in this thread until its next call.
        guard let message = unsafe strerror(number) else { return "error \(number)" }
        return unsafe String(cString: message)
    }
}
