// The statements of earlier prompts, one a line, in a file that only its owner reads.

internal import CozDB
internal import Glibc

/// The file is appended to after each statement, so that several prompts at once lose nothing, and
/// cut when it is opened. One that others can read is made private first; what is no file is left
/// alone. Failures are silent: then there is no history, and nothing else is lost.
struct HistoryFile {
    /// Lines that are gone back to.
    static let lineCountMax = 1_000
    /// A longer statement is not kept.
    static let lineSizeBytesMax = 16 << 10
    /// A larger file is not read: it is none of ours.
    private static let sizeBytesMax = 2 * lineCountMax * lineSizeBytesMax

    private let path: String

    init(path: String) {
        self.path = path
    }

    /// Where the desktop convention puts it: `$XDG_STATE_HOME/cozdb/history`, or below
    /// `~/.local/state`. Nil where there is no home directory.
    static func standard(_ environment: (String) -> String?) -> HistoryFile? {
        // The convention has relative paths ignored.
        if let state = environment("XDG_STATE_HOME"), state.utf8.first == UInt8(ascii: "/") {
            return HistoryFile(path: state + "/cozdb/history")
        }
        guard let home = environment("HOME"), !home.isEmpty else { return nil }
        return HistoryFile(path: home + "/.local/state/cozdb/history")
    }

    /// The newest lines, oldest first. A file that has grown to twice as many is cut to them.
    func read() -> [String] {
        guard let descriptor = open(O_RDONLY) else { return [] }
        defer { close(descriptor) }
        var reader = InputReader(descriptor: descriptor, name: path)
        let limit = InputLimit(sizeBytes: HistoryFile.sizeBytesMax)
        guard let text = try? reader.text(limit) else { return [] }
        let all = text.split(separator: "\n").map(String.init)
        let lines = Array(all.suffix(HistoryFile.lineCountMax))
        if all.count > 2 * HistoryFile.lineCountMax { replace(with: lines) }
        return lines
    }

    func append(_ line: String) {
        guard line.utf8.count <= HistoryFile.lineSizeBytesMax else { return }
        makeFolders()
        guard let descriptor = open(O_WRONLY | O_APPEND | O_CREAT) else { return }
        defer { close(descriptor) }
        _ = OutputWriter.write(Array((line + "\n").utf8), to: descriptor)
    }

    private func replace(with lines: [String]) {
        let (descriptor, other) = FileOpening.make(beside: path)
        guard descriptor >= 0 else { return }
        let text = lines.map { $0 + "\n" }.joined()
        let code = OutputWriter.write(Array(text.utf8), to: descriptor)
        close(descriptor)
        // Both names end with a zero byte during the calls.
        let isReplaced = unsafe code == 0 && rename(other, path) == 0
        if !isReplaced { _ = unsafe unlink(other) }
    }

    /// Opens the file, which nobody but its owner can read afterwards; nil where that fails, or
    /// where something else has its name: a pipe would wait for whoever opens its other end.
    private func open(_ flags: Int32) -> Int32? {
        // The name ends with a zero byte during the call.
        let descriptor = unsafe Glibc.open(
            path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0o600)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        // Sound: fills in a local value.
        let isFile = unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        let isPrivate = status.st_mode & 0o077 == 0 || fchmod(descriptor, 0o600) == 0
        guard isFile, isPrivate else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// The folders of the file, those of them that do not exist.
    private func makeFolders() {
        for index in path.indices.dropFirst() where path[index] == "/" {
            // The name ends with a zero byte during the call; what exists stays as it is.
            unsafe mkdir(String(path[..<index]), 0o700)
        }
    }
}

/// Variables of the environment.
enum Environment {
    static func value(_ name: String) -> String? {
        // The text lives until somebody changes the environment, which the command never does.
        guard let text = unsafe getenv(name) else { return nil }
        return unsafe String(cString: text)
    }
}
