// The terminals behind standard input, output and error.

internal import CozPlatform

enum Terminal {
    static func isTerminal(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1
    }

    /// Characters per line; nil if there is no terminal.
    static func columns(_ descriptor: Int32) -> Int? {
        size(descriptor)?.columns
    }

    /// Lines, and characters per line; nil if there is no terminal. A terminal of unknown size
    /// counts as 80 by 24.
    static func size(_ descriptor: Int32) -> (rows: Int, columns: Int)? {
        guard isTerminal(descriptor) else { return nil }
        var size = winsize()
        // Sound: fills in the structure at the given address.
        let status = unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size)
        guard status == 0, size.ws_col > 0, size.ws_row > 0 else { return (24, 80) }
        return (Int(size.ws_row), Int(size.ws_col))
    }
}
