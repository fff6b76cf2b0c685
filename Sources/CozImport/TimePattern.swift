// Patterns for non-standard times: those of strptime (C, Python, R) and the layouts of Go, which
// annotated CSV uses.

public import CozDB

/// The format of a time, as a list of pieces.
public struct TimePattern: Sendable {
    /// One piece of the text.
    enum Piece: Equatable, Sendable {
        case literal(UInt8)
        /// Any number of spaces and tabs, including none.
        case blanks
        /// Digits: exactly four and two for years, at most three for `dayOfYear`, at most two
        /// otherwise.
        case year, shortYear, month, day, dayOfYear, hour, hour12, minute, second
        case monthName, weekdayName, amPM
        /// The digits after the decimal point of the seconds.
        case fraction
        /// Optionally, a point or comma and digits.
        case optionalFraction
        /// `Z`, `+08`, `+0800` or `+08:00`.
        case offset
        /// UTC or GMT.
        case zoneName
        case epochSeconds
    }

    let pieces: [Piece]
    /// Whether Go's rules hold. AM and PM count for `hour`, too, and 12 without either is noon.
    /// Next to the name UTC an offset does not count.
    let isGoLayout: Bool

    private init(pieces: [Piece], isGoLayout: Bool = false) {
        (self.pieces, self.isGoLayout) = (pieces, isGoLayout)
    }

    /// Parses a pattern of strptime: %Y %y %m %d %e %j %H %I %M %S %f %p %b %B %h %a %A %z %Z %s %T
    /// %R %F %D %%. Two-digit years are 1969 to 2068 (POSIX).
    ///
    /// - Throws: `usage` for a directive that is not listed, and for a pattern that lacks the year
    ///   or the day, unless it has %s.
    public init(strptime pattern: String) throws(DatabaseError) {
        var pieces: [Piece] = []
        var isDirective = false
        func unknown(_ name: String) -> DatabaseError {
            DatabaseError(
                .usage,
                "time format \"\(pattern)\": found the unknown directive %\(name), expected one of "
                    + "%Y %y %m %d %e %j %H %I %M %S %f %p %b %B %h %a %A %z %Z %s %T %R %F %D %%")
        }
        for byte in pattern.utf8 {
            if isDirective {
                guard let found = TimePattern.directives[byte] else {
                    throw unknown(String(decoding: [byte], as: UTF8.self))
                }
                pieces += found
                isDirective = false
            } else if byte == UInt8(ascii: "%") {
                isDirective = true
            } else {
                pieces.append(byte == space || byte == tab ? .blanks : .literal(byte))
            }
        }
        if isDirective { throw unknown("") }
        let hasDay = pieces.contains(.dayOfYear) || pieces.contains(.day)
        let hasYear = pieces.contains(.year) || pieces.contains(.shortYear)
        guard pieces.contains(.epochSeconds) || hasDay && hasYear else {
            throw DatabaseError(
                .usage,
                "time format \"\(pattern)\" has no year and day; expected a pattern such as "
                    + "\"%m/%d/%y %I:%M:%S %p\"")
        }
        self.init(pieces: pieces)
    }

    private static let directives: [UInt8: [Piece]] = {
        let colon = Piece.literal(UInt8(ascii: ":"))
        let dash = Piece.literal(UInt8(ascii: "-"))
        let slash = Piece.literal(UInt8(ascii: "/"))
        let list: [(Character, [Piece])] = [
            ("Y", [.year]), ("y", [.shortYear]), ("m", [.month]), ("d", [.day]), ("e", [.day]),
            ("j", [.dayOfYear]), ("H", [.hour]), ("I", [.hour12]), ("M", [.minute]),
            ("S", [.second]), ("f", [.fraction]), ("p", [.amPM]), ("b", [.monthName]),
            ("B", [.monthName]), ("h", [.monthName]), ("a", [.weekdayName]), ("A", [.weekdayName]),
            ("z", [.offset]), ("Z", [.zoneName]), ("s", [.epochSeconds]),
            ("T", [.hour, colon, .minute, colon, .second]), ("R", [.hour, colon, .minute]),
            ("F", [.year, dash, .month, dash, .day]),
            ("D", [.month, slash, .day, slash, .shortYear]), ("%", [.literal(0x25)]),
        ]
        return Dictionary(
            uniqueKeysWithValues: list.map { ($0.0.asciiValue ?? 0, $0.1) })
    }()

    /// Parses a layout of Go's `time` package, which spells out 2 January 2006, 15:04:05 -0700. All
    /// other characters are literals.
    ///
    /// Source: https://pkg.go.dev/time#Layout.
    public init(goLayout layout: String) {
        var pieces: [Piece] = []
        var rest = layout.utf8[...]
        scan: while let first = rest.first {
            if rest.starts(with: "_2006".utf8) {
                // The year after an underscore, not a day and 006.
                pieces.append(.literal(first))
                rest = rest.dropFirst()
            }
            for (text, piece) in TimePattern.goNames where rest.starts(with: text.utf8) {
                let next = rest.dropFirst(text.utf8.count).first
                // The beginning of a longer word, such as Month.
                if text == "Jan" || text == "Mon", let next, next &- 0x61 < 26 { continue }
                pieces.append(piece)
                rest = rest.dropFirst(text.utf8.count)
                // Like Go, accept a fraction after the seconds even if the layout has none.
                if piece == .second, next != UInt8(ascii: "."), next != UInt8(ascii: ",") {
                    pieces.append(.optionalFraction)
                }
                continue scan
            }
            let isPoint = first == UInt8(ascii: ".") || first == UInt8(ascii: ",")
            let digits = rest.dropFirst().prefix { $0 == 0x30 }
            let nines = rest.dropFirst().prefix { $0 == 0x39 }
            let behind = rest.dropFirst(1 + max(digits.count, nines.count)).first ?? 0
            if isPoint, !digits.isEmpty || !nines.isEmpty, behind &- 0x30 >= 10 {
                pieces.append(.optionalFraction)
                rest = rest.dropFirst(1 + max(digits.count, nines.count))
                continue
            }
            pieces.append(first == space ? .blanks : .literal(first))
            rest = rest.dropFirst()
        }
        self.init(pieces: pieces, isGoLayout: true)
    }

    /// The first match wins, so longer names come before their prefixes.
    private static let goNames: [(String, Piece)] = [
        ("2006", .year), ("January", .monthName), ("Jan", .monthName), ("Monday", .weekdayName),
        ("Mon", .weekdayName), ("MST", .zoneName), ("-07:00", .offset), ("-0700", .offset),
        ("-07", .offset), ("Z07:00", .offset), ("Z0700", .offset), ("Z07", .offset),
        ("002", .dayOfYear), ("01", .month), ("02", .day), ("03", .hour12), ("04", .minute),
        ("05", .second), ("06", .shortYear), ("15", .hour), ("PM", .amPM), ("pm", .amPM),
        ("_2", .day), ("1", .month), ("2", .day), ("3", .hour12), ("4", .minute),
        ("5", .second),
    ]
}
