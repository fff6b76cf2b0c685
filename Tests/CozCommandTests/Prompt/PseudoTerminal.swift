// A terminal for a program that wants one: what a person would type, and what they would see.

internal import Foundation
internal import Glibc
internal import Synchronization

/// Runs a program with a terminal of its own as standard input, output and error.
final class PseudoTerminal {
    private let process = Process()
    private let master: FileHandle
    private let seen = SeenText()

    struct NoTerminal: Error {}

    /// - Parameter rows: lines of the terminal, and its columns.
    init(
        _ program: URL, _ arguments: [String], environment: [String: String], in folder: URL,
        rows: UInt16 = 24, columns: UInt16 = 100
    ) throws {
        var ends: (master: Int32, terminal: Int32) = (-1, -1)
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        // The call fills two numbers and reads the size.
        guard unsafe openpty(&ends.master, &ends.terminal, nil, nil, &size) == 0 else {
            throw NoTerminal()
        }
        master = FileHandle(fileDescriptor: ends.master, closeOnDealloc: true)
        let terminal = FileHandle(fileDescriptor: ends.terminal, closeOnDealloc: true)
        // setsid makes the terminal the one that Ctrl-C is typed at.
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
        process.arguments = ["--ctty", "--wait", program.path] + arguments
        process.environment = environment.merging(Command.sanitizerOptions) { $1 }
        process.currentDirectoryURL = folder
        process.standardInput = terminal
        process.standardOutput = terminal
        process.standardError = terminal
        try process.run()
        try terminal.close()
        Thread.detachNewThread { [seen, master] in seen.collect(master) }
    }

    /// Every byte written so far.
    var bytes: [UInt8] { seen.bytes }

    /// Everything written so far, without what only moves the cursor or colours.
    var text: String {
        // A terminal is told to return and to feed; as a character the two would be one.
        let bytes = seen.bytes.filter { $0 != 0x0D && $0 != 0x07 }
        let all = String(decoding: bytes, as: UTF8.self)
        return all.replacing(/\u{1B}\[[0-9;?]*[A-Za-z]|\u{1B}[=>]/, with: "")
    }

    /// Types keys, at once.
    func type(_ keys: String) throws {
        try master.write(contentsOf: Data(keys.utf8))
    }

    /// Gives the window another size, as dragging its corner does.
    func resize(rows: UInt16, columns: UInt16) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        // The call reads the size.
        _ = unsafe ioctl(master.fileDescriptor, UInt(TIOCSWINSZ), &size)
    }

    /// Waits until the program has written a text, and counts what was written before it as read.
    ///
    /// - Returns: what was written since the last call, or nil where the text does not come.
    func wait(for expected: String, seconds: Double = 20) -> String? {
        let end = Date() + seconds
        while Date() < end {
            let new = text.dropFirst(readCount)
            if let range = new.range(of: expected) {
                let before = String(new[..<range.upperBound])
                readCount += before.count
                return before
            }
            usleep(10_000)
        }
        return nil
    }

    private var readCount = 0

    /// Whether the terminal echoes and collects lines, as a shell expects it.
    var isInLineMode: Bool {
        var settings = termios()
        // The call fills the structure it is given the address of.
        unsafe tcgetattr(master.fileDescriptor, &settings)
        return settings.c_lflag & UInt32(ICANON) != 0 && settings.c_lflag & UInt32(ECHO) != 0
    }

    /// Waits for the program's end; its exit status, nil where it does not end.
    func end(seconds: Double = 20) -> Int32? {
        let end = Date() + seconds
        while process.isRunning, Date() < end { usleep(10_000) }
        guard !process.isRunning else {
            process.terminate()
            return nil
        }
        return process.terminationStatus
    }
}

/// What a program has written to its terminal, collected on a thread of its own.
private final class SeenText: Sendable {
    private let text = Mutex<[UInt8]>([])

    var bytes: [UInt8] { text.withLock { $0 } }

    /// Reads until nobody has the terminal open any more.
    func collect(_ master: FileHandle) {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            // At most as many bytes as the buffer has.
            let count = unsafe read(master.fileDescriptor, &buffer, buffer.count)
            if count <= 0 { return }
            text.withLock { $0 += buffer[..<count] }
        }
    }
}
