// The statements of earlier prompts, one a line, in a file that only its owner reads.

internal import CozDB
internal import Glibc

/// The file is appended to after each statement, so that several prompts at once lose nothing, and
/// cut when it is opened. Failures are silent: then there is no history, and nothing else is lost.
struct HistoryFile {
    /// Lines that are gone back to.
    static let lineCountMax = 1_000
    /// A longer statement is not kept.
    static let lineSizeBytesMax = 16 << 10

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
        guard let text = try? InputReader.text(of: path) else { return [] }
        let all = text.split(separator: "\n").map(String.init)
        let lines = Array(all.suffix(HistoryFile.lineCountMax))
        if all.count > 2 * HistoryFile.lineCountMax { replace(with: lines) }
        return lines
    }

    func append(_ line: String) {
        guard line.utf8.count <= HistoryFile.lineSizeBytesMax else { return }
        makeFolders()
        write([line], to: path, O_APPEND)
    }

    private func replace(with lines: [String]) {
        let other = path + ".\(getpid())"
        // Both names end with a zero byte during the call.
        if write(lines, to: other, O_TRUNC) { unsafe rename(other, path) }
    }

    @discardableResult
    private func write(_ lines: [String], to path: String, _ flag: Int32) -> Bool {
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flag
        // The name ends with a zero byte during the call.
        let descriptor = unsafe path.withCString { unsafe open($0, flags, 0o600) }
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let text = lines.map { $0 + "\n" }.joined()
        return OutputWriter.write(Array(text.utf8), to: descriptor) == 0
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
