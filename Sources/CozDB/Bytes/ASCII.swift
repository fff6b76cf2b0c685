// Classes of ASCII characters that lexers of all kinds ask for.

extension UInt8 {
    var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

    /// A letter or `_`.
    var isWordStart: Bool {
        (self | 0x20 >= UInt8(ascii: "a") && self | 0x20 <= UInt8(ascii: "z"))
            || self == UInt8(ascii: "_")
    }

    /// A letter, a digit or `_`.
    var isWord: Bool { isWordStart || isDigit }

    /// Blank, tab or the end of a line.
    var isBlank: Bool {
        self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") || self == UInt8(ascii: "\n")
            || self == UInt8(ascii: "\r")
    }
}
