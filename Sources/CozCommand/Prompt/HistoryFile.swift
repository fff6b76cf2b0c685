// The history of the prompt: one statement per line, in a file that only its owner can read.

internal import CozDB
internal import CozPlatform

/// Each statement is appended to the file, so several prompts can share it. `read` trims it. A
/// file that others can read is made private first; anything but a regular file is left alone.
/// Errors are ignored: the prompt then has no history.
struct HistoryFile {
    /// Maximum number of lines to read back.
    static let lineCountMax = 1_000
    /// Longer statements are not stored.
    static let lineSizeBytesMax = 16 << 10
    /// Larger files are not read: the prompt did not write them.
    private static let sizeBytesMax = 2 * lineCountMax * lineSizeBytesMax

    private let path: String

    init(path: String) {
        self.path = path
    }

    /// The location of the XDG convention: `$XDG_STATE_HOME/cozdb/history`, or below
    /// `~/.local/state`. Returns nil without a home directory.
    static func standard(_ environment: (String) -> String?) -> HistoryFile? {
        // The convention says to ignore relative paths.
        if let state = environment("XDG_STATE_HOME"), state.utf8.first == UInt8(ascii: "/") {
            return HistoryFile(path: state + "/cozdb/history")
        }
        guard let home = environment("HOME"), !home.isEmpty else { return nil }
        return HistoryFile(path: home + "/.local/state/cozdb/history")
    }

    /// Returns the newest lines, oldest first. Trims a file that has grown to twice the limit.
    func read() -> [String] {
        guard let descriptor = open(O_RDONLY) else { return [] }
        defer { close(descriptor) }
        var reader = InputReader(descriptor: descriptor, name: path)
        let limit = InputLimit(sizeBytes: HistoryFile.sizeBytesMax)
        guard let text = try? reader.text(limit) else { return [] }
        let all = text.parts(separatedBy: "\n", keepsEmpty: false)
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
        // Sound: both paths are null-terminated during the calls.
        let isReplaced = unsafe code == 0 && rename(other, path) == 0
        if !isReplaced { _ = unsafe unlink(other) }
    }

    /// Opens the file and makes it private. Returns nil if that fails or if it is not a regular
    /// file: opening a pipe would wait for its other end.
    private func open(_ flags: Int32) -> Int32? {
        // Sound: the path is null-terminated during the call.
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

    /// Creates the missing folders of the path.
    private func makeFolders() {
        let names = path.parts(separatedBy: "/")
        for count in names.indices.dropFirst() {
            let folder = names[..<count].joined(separator: "/")
            // Sound: the path is null-terminated during the call. Existing folders are not changed.
            unsafe mkdir(folder, 0o700)
        }
    }
}

enum Environment {
    static func value(_ name: String) -> String? {
        // Sound: the string lives until the environment changes, and the command never changes it.
        guard let text = unsafe getenv(name) else { return nil }
        return unsafe String(cString: text)
    }
}
