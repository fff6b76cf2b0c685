// Reads lines from a terminal through libedit, which handles keys, UTF-8 and history. This file
// adds Tab completion and signal handling.

internal import CozLibedit
internal import CozDB
internal import CozPlatform

/// A line editor on the terminal. A process has at most one at a time.
///
/// Safe to use: `init` creates libedit's objects, and they live as long as this object.
@safe
final class TerminalEditor: LineReader {
    private let editor: OpaquePointer
    private let history: OpaquePointer
    private let complete: (CompletionRequest) -> Completion
    /// The prompt, for libedit's callback, which runs whenever it draws the line.
    private var prompt: UnsafeMutablePointer<CChar>?
    /// The prompt of the current line.
    private var startPrompt = ""
    /// The earlier lines of the statement.
    private var earlier: [String] = []
    /// The event that ended the current line, unless it ended normally.
    private var stop: LineInput?
    /// The columns that libedit draws for; nil when it begins a line, because it then looks for the
    /// terminal's size itself. It shows the prompt when it has got its own.
    private var columns: Int?

    /// The characters that a line may have.
    static let characterCountMax = 16_384
    /// The most columns that libedit draws a character in, if it is a control character.
    private static let characterColumnsMax = 8

    /// Takes over the terminal of standard input and output.
    ///
    /// - Parameters:
    ///   - lines: The history, oldest first.
    ///   - complete: Finds the completions for Tab.
    /// - Returns: nil if the terminal cannot be set up.
    init?(history lines: [String], complete: @escaping (CompletionRequest) -> Completion) {
        TerminalEditor.chooseEncoding()
        // Sound: strings live through each call, and libedit copies them.
        guard let editor = unsafe cozEditStart("cozdb"), let history = unsafe history_init() else {
            return nil
        }
        unsafe self.editor = editor
        unsafe self.history = history
        self.complete = complete
        unsafe cozHistorySetSize(history, Int32(HistoryFile.lineCountMax))
        unsafe cozHistorySetUnique(history)
        for line in lines { unsafe cozHistoryAdd(history, line) }
        unsafe cozEditUseHistory(editor, history)
        // Sound: only callbacks of `el_gets` use the pointer. `line` calls it, so the object is
        // alive.
        unsafe cozEditSetOwner(editor, Unmanaged.passUnretained(self).toOpaque())
        unsafe cozEditUsePrompt(editor) { unsafe TerminalEditor.owner($0)?.prompt }
        unsafe cozEditUseKeys(editor, "emacs")
        unsafe cozEditUseReader(editor) { editor, character in
            guard let character = unsafe character else { return -1 }
            guard let owner = unsafe TerminalEditor.owner(editor) else { return -1 }
            return unsafe owner.read(into: &character.pointee)
        }
        unsafe cozEditAddFunction(editor, "cozdb-complete", "Complete the word") { editor, _ in
            unsafe TerminalEditor.owner(editor)?.completeWord() ?? UInt8(CC_ERROR)
        }
        unsafe cozEditBind(editor, "\t", "cozdb-complete")
        unsafe cozEditBind(editor, "^R", "em-inc-search-prev")
        // The user's key bindings (~/.editrc).
        if TerminalEditor.hasSoundCommands() { _ = unsafe el_source(editor, nil) }
        // The prompt for libedit's own commands, which crashes if a quote is not closed.
        for key in ["^[x", "^[X"] { unsafe cozEditBind(editor, key, "ed-unassigned") }
        unsafe cozEditBindCommandKey(editor, ":", "ed-unassigned")
    }

    deinit {
        // This also restores the terminal.
        unsafe el_end(editor)
        unsafe history_end(history)
        unsafe free(prompt)
    }

    func line(prompt: String, after earlier: [String]) -> LineInput {
        use(prompt: "")
        self.earlier = earlier
        stop = nil
        columns = nil
        startPrompt = prompt
        Signals.clearInterrupt()
        EditingSignals.begin()
        defer { EditingSignals.end() }
        // Switch the mode before the prompt appears, so that the editor gets all that is typed
        // after it.
        unsafe cozEditSetTerminalMode(editor, 1)
        var count: Int32 = 0
        // Sound: the text belongs to libedit until the next line; it is copied at once.
        guard let text = unsafe el_gets(editor, &count), count > 0 else {
            TerminalEditor.show("\n")
            return stop ?? .end
        }
        var line = unsafe String(cString: text)
        while line.last?.isNewline == true { line.removeLast() }
        return .line(line)
    }

    private func use(prompt text: String) {
        unsafe free(prompt)
        unsafe prompt = strdup(text)
    }

    func remember(_ line: String) {
        // Sound: the string lives through the call, and libedit copies it.
        unsafe cozHistoryAdd(history, line)
    }

    // MARK: Callbacks

    private static func owner(_ editor: OpaquePointer?) -> TerminalEditor? {
        // Sound: the pointer that `init` has set, or null.
        guard let editor = unsafe editor, let pointer = unsafe cozEditOwner(editor) else {
            return nil
        }
        return unsafe Unmanaged<TerminalEditor>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Sets the size that libedit draws for. Returns whether it has changed.
    ///
    /// libedit writes outside of its memory if a line has more rows than the terminal (type it,
    /// then Home, End and more). So it gets enough rows for any line, whatever the terminal has.
    @discardableResult
    private func setSize() -> Bool {
        let now = Terminal.columns(STDOUT_FILENO) ?? 80
        guard now != columns else { return false }
        let isNarrower = now < columns ?? 0
        columns = now
        let cells = TerminalEditor.characterCountMax * TerminalEditor.characterColumnsMax
        // libedit allocates its screen at each of the two calls. The number that shrinks comes
        // first: the rows of a narrow window times the columns of a wide one are gigabytes.
        var sizes = [("li", cells / max(2, now) + 8), ("co", now)]
        if isNarrower { sizes.reverse() }
        for (name, size) in sizes {
            // Sound: libedit copies the strings.
            unsafe cozEditSetTerminalValue(editor, name, "\(size)")
        }
        return true
    }

    /// Reads the next typed character. Returns 1 and the character, 0 at the end, or -1 after
    /// Ctrl-C. libedit's own function would keep reading after the first Ctrl-C.
    private func read(into character: inout wchar_t) -> Int32 {
        var decoder = UTF8Decoder()
        if columns == nil {
            setSize()
            use(prompt: startPrompt)
            unsafe cozEditRefresh(editor)
        }
        while true {
            EditingSignals.waitForKey()
            if Signals.isInterrupted {
                let text = text()
                stop = .interrupted(wasEmpty: text.before.isEmpty && text.after.isEmpty)
                return -1
            }
            if handleSignals() { continue }
            if stop == nil, isTooLong { stop = .tooLong }
            var byte: UInt8 = 0
            // Sound: reads one byte into a one-byte variable.
            let count = unsafe Glibc.read(STDIN_FILENO, &byte, 1)
            if count == 1 {
                guard let scalar = decoder.take(byte) else { continue }
                if stop == .tooLong {
                    if scalar == "\r" || scalar == "\n" { return -1 }
                    continue
                }
                character = wchar_t(scalar.value)
                return 1
            }
            if count == 0 || errno != EINTR {
                stop = .end
                return 0
            }
        }
    }

    /// - Returns: Whether there was a signal, so that there may be no key yet.
    private func handleSignals() -> Bool {
        // Sound: `editor` is the editor whose callback this is.
        let wasResized = EditingSignals.takeResize()
        if wasResized, setSize() {
            // libedit keeps its cursor, which may now lie outside of its rows and columns. A
            // refresh draws the line anew from the first column.
            TerminalEditor.show("\r\u{1B}[J")
            unsafe cozEditRefresh(editor)
        }
        guard EditingSignals.takeSuspend() else { return wasResized }
        unsafe cozEditSetTerminalMode(editor, 0)
        EditingSignals.suspend()
        unsafe cozEditSetTerminalMode(editor, 1)
        unsafe cozEditRefresh(editor)
        return true
    }

    private var isTooLong: Bool {
        // Sound: libedit's pointers into one buffer, in this order, valid until the next change.
        guard let info = unsafe el_wline(editor)?.pointee, let start = unsafe info.buffer,
            let end = unsafe info.lastchar
        else { return false }
        return unsafe end - start > TerminalEditor.characterCountMax
    }

    /// The line typed so far, before and after the cursor.
    private func text() -> (before: String, after: String) {
        // Sound: libedit's pointers into one buffer, in this order, valid until the next change.
        guard let info = unsafe el_line(editor)?.pointee, let start = unsafe info.buffer,
            let cursor = unsafe info.cursor, let end = unsafe info.lastchar
        else { return ("", "") }
        func text(_ start: UnsafePointer<CChar>, _ end: UnsafePointer<CChar>) -> String {
            let bytes = unsafe UnsafeRawBufferPointer(start: start, count: max(0, end - start))
            return unsafe String(decoding: bytes, as: UTF8.self)
        }
        return unsafe (text(start, cursor), text(cursor, end))
    }

    private func completeWord() -> UInt8 {
        let text = text()
        let request = CompletionRequest(
            earlier: earlier.joined(separator: "\n"), before: text.before, after: text.after)
        // At the start of a line Tab indents, so that statements with tabs can be pasted.
        if request.before.utf8.allSatisfy({ $0 == UInt8(ascii: " ") }), !earlier.isEmpty {
            unsafe el_insertstr(editor, "    ")
            return UInt8(CC_REFRESH)
        }
        let completion = complete(request)
        guard !completion.candidates.isEmpty else { return UInt8(CC_REFRESH_BEEP) }
        let insertion = completion.insertion
        if insertion != completion.typed {
            // Sound: both calls copy. The count is in characters, as libedit stores them.
            unsafe el_deletestr(editor, Int32(completion.typed.unicodeScalars.count))
            unsafe el_insertstr(editor, insertion)
            return UInt8(CC_REFRESH)
        }
        if completion.candidates.count == 1 { return UInt8(CC_NORM) }
        let list = completion.list(columns: Terminal.columns(STDOUT_FILENO) ?? 80)
        TerminalEditor.show("\n" + list)
        return UInt8(CC_REDISPLAY)
    }

    /// Writes directly to the terminal: libedit flushes its own output before it reads a key.
    private static func show(_ text: String) {
        _ = OutputWriter.write(Array(text.utf8), to: STDOUT_FILENO)
    }

    /// Whether each line of `~/.editrc` closes its quotes. libedit crashes otherwise.
    private static func hasSoundCommands() -> Bool {
        let home = Environment.value("HOME").map { $0 + "/.editrc" }
        guard let path = Environment.value("EDITRC") ?? home else { return true }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        var reader = InputReader(descriptor: descriptor, name: path)
        guard let text = try? reader.text(InputLimit(sizeBytes: 1 << 20)) else { return false }
        return text.parts(separatedBy: "\n").allSatisfy { line in
            ![UInt8(ascii: "'"), UInt8(ascii: "\"")].contains { quote in
                line.utf8.count { $0 == quote } % 2 == 1
            }
        }
    }

    /// libedit uses the encoding of the locale, but statements are always UTF-8.
    private static func chooseEncoding() {
        // Sound: constant strings; the results are compared before the next call.
        unsafe setlocale(LC_CTYPE, "")
        guard let name = unsafe nl_langinfo(nl_item(CODESET)) else { return }
        if unsafe strcmp(name, "UTF-8") != 0 { unsafe setlocale(LC_CTYPE, "C.UTF-8") }
    }
}

/// Decodes UTF-8 byte by byte. Invalid bytes become U+FFFD.
struct UTF8Decoder {
    private var bytes: [UInt8] = []

    /// - Returns: The character; nil while it is incomplete.
    mutating func take(_ byte: UInt8) -> Unicode.Scalar? {
        bytes.append(byte)
        let count =
            switch bytes[0] {
            case 0xC2..<0xE0: 2
            case 0xE0..<0xF0: 3
            case 0xF0..<0xF5: 4
            default: 1
            }
        if bytes.count < count { return nil }
        defer { bytes = [] }
        return String(decoding: bytes, as: UTF8.self).unicodeScalars.first
    }
}
