// Lines from a terminal, edited by libedit: keys, UTF-8 and history are its work. Ours are Tab, and
// what signals mean while somebody types.

internal import CLibedit
internal import CozDB
internal import Glibc

/// A terminal that somebody types at. One at a time in a process.
///
/// Safe to use: libedit's objects are made by `init` and live as long as this one.
@safe
final class TerminalEditor: LineReader {
    private let editor: OpaquePointer
    private let history: OpaquePointer
    private let complete: (CompletionRequest) -> Completion
    /// The prompt as libedit asks for it whenever it draws the line.
    private var prompt: UnsafeMutablePointer<CChar>?
    private var earlier = ""
    /// What ended the line that is being read, unless it was its own end.
    private var stop: LineInput?

    /// Takes the terminal of standard input and output.
    ///
    /// - Parameters:
    ///   - lines: what to go back to, oldest first.
    ///   - complete: what Tab stands for.
    /// - Returns: nil where the terminal cannot be set up.
    init?(history lines: [String], complete: @escaping (CompletionRequest) -> Completion) {
        TerminalEditor.chooseEncoding()
        // Strings live through each call, and libedit keeps copies of them.
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
        // Followed only by the callbacks of `el_gets`, which `line` calls: the object lives then.
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
        // Where people keep key bindings of their own (~/.editrc).
        _ = unsafe el_source(editor, nil)
    }

    deinit {
        // Puts the terminal back, too.
        unsafe el_end(editor)
        unsafe history_end(history)
        unsafe free(prompt)
    }

    func line(prompt: String, after earlier: String) -> LineInput {
        unsafe free(self.prompt)
        unsafe self.prompt = strdup(prompt)
        self.earlier = earlier
        stop = nil
        Signals.clearInterrupt()
        EditingSignals.begin()
        defer { EditingSignals.end() }
        // Before the prompt is seen: what is typed then is for the editor, not for the terminal.
        unsafe cozEditTakeTerminal(editor, 1)
        var count: Int32 = 0
        // The text belongs to libedit until the next line; it is copied at once.
        guard let text = unsafe el_gets(editor, &count), count > 0 else {
            TerminalEditor.show("\n")
            return stop ?? .end
        }
        var line = unsafe String(cString: text)
        while line.last?.isNewline == true { line.removeLast() }
        return .line(line)
    }

    func remember(_ line: String) {
        // The string lives through the call, and libedit keeps a copy of it.
        unsafe cozHistoryAdd(history, line)
    }

    // MARK: Callbacks

    private static func owner(_ editor: OpaquePointer?) -> TerminalEditor? {
        // What `init` has put there, or nothing.
        guard let editor = unsafe editor, let pointer = unsafe cozEditOwner(editor) else {
            return nil
        }
        return unsafe Unmanaged<TerminalEditor>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// The next character that is typed: 1 and the character, 0 at the end, -1 after Ctrl-C.
    /// libedit's own function would go on reading after the first Ctrl-C.
    private func read(into character: inout wchar_t) -> Int32 {
        var decoder = UTF8Decoder()
        while true {
            EditingSignals.waitForKey()
            if Signals.isInterrupted {
                let text = text()
                stop = .interrupted(wasEmpty: text.before.isEmpty && text.after.isEmpty)
                return -1
            }
            if handleSignals() { continue }
            var byte: UInt8 = 0
            // One byte, into a variable of one byte.
            let count = unsafe Glibc.read(STDIN_FILENO, &byte, 1)
            if count == 1 {
                guard let scalar = decoder.take(byte) else { continue }
                character = wchar_t(scalar.value)
                return 1
            }
            if count == 0 || errno != EINTR {
                stop = .end
                return 0
            }
        }
    }

    /// - Returns: whether there was one, so that there may be no key yet.
    private func handleSignals() -> Bool {
        // The editor is the one that called us.
        let wasResized = EditingSignals.takeResize()
        if wasResized { unsafe el_resize(editor) }
        guard EditingSignals.takeSuspend() else { return wasResized }
        unsafe cozEditTakeTerminal(editor, 0)
        EditingSignals.suspend()
        unsafe cozEditTakeTerminal(editor, 1)
        unsafe cozEditRefresh(editor)
        return true
    }

    /// The line as typed so far, at both sides of the cursor.
    private func text() -> (before: String, after: String) {
        // libedit's pointers into one buffer, in this order, valid until the next change.
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
        let request = CompletionRequest(earlier: earlier, before: text.before, after: text.after)
        // At the beginning of a line Tab indents, so that statements can be pasted.
        if request.before.utf8.allSatisfy({ $0 == UInt8(ascii: " ") }), !earlier.isEmpty {
            unsafe el_insertstr(editor, "    ")
            return UInt8(CC_REFRESH)
        }
        let completion = complete(request)
        guard !completion.candidates.isEmpty else { return UInt8(CC_REFRESH_BEEP) }
        let insertion = completion.insertion
        if insertion != completion.typed {
            // Both calls copy; the count is in characters, as libedit holds them.
            unsafe el_deletestr(editor, Int32(completion.typed.unicodeScalars.count))
            unsafe el_insertstr(editor, insertion)
            return UInt8(CC_REFRESH)
        }
        if completion.candidates.count == 1 { return UInt8(CC_NORM) }
        let list = completion.list(columns: Terminal.columns(STDOUT_FILENO) ?? 80)
        TerminalEditor.show("\n" + list)
        return UInt8(CC_REDISPLAY)
    }

    /// Straight to the terminal: libedit has written all of its own before it reads a key.
    private static func show(_ text: String) {
        _ = OutputWriter.write(Array(text.utf8), to: STDOUT_FILENO)
    }

    /// libedit works in the encoding of the locale; statements are UTF-8, whatever that says.
    private static func chooseEncoding() {
        // Constant strings; the answers are compared before the next call.
        unsafe setlocale(LC_CTYPE, "")
        guard let name = unsafe nl_langinfo(nl_item(CODESET)) else { return }
        if unsafe strcmp(name, "UTF-8") != 0 { unsafe setlocale(LC_CTYPE, "C.UTF-8") }
    }
}

/// Bytes of UTF-8 to characters, one at a time; what is not UTF-8 becomes U+FFFD.
struct UTF8Decoder {
    private var bytes: [UInt8] = []

    /// - Returns: nil while the character is not complete.
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
