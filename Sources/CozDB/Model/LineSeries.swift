// Extracts the series from a refused line as far as possible, so that a deletion can find a
// participant's lines. Importers have the real parser; this one accepts anything.

/// Experiment and tags at the start of a line protocol line, or of a JSON item.
struct LineSeries {
    let experiment: String
    /// The tags that have a name and a value.
    let tags: [(name: String, value: String)]
    /// What looks like tags in the rest of a line, which may be another line.
    let others: [(name: String, value: String)]
    /// Whether the text is one item with matching braces, or one line as far as it can be told. If
    /// not, it may have data of several participants.
    let isOne: Bool
    /// Whether this is the series, as far as the line says: it looks like line protocol, or what it
    /// has are the item's own members. A line that is deleted by its series must be so.
    let isWhole: Bool

    private struct Found {
        var experiment = ""
        var tags: [(name: String, value: String)] = []
        var others: [(name: String, value: String)] = []
        var isOne = true
        var isWhole = false
    }

    /// Parses a line; nil if it does not start with a name.
    init?(_ line: [UInt8]) {
        let first = line.first { !$0.isBlank }
        let found =
            first == UInt8(ascii: "{") ? LineSeries.item(line) : LineSeries.line(line)
        guard let found else { return nil }
        (experiment, tags, others) = (found.experiment, found.tags, found.others)
        (isOne, isWhole) = (found.isOne, found.isWhole)
    }

    private static func line(_ line: [UInt8]) -> Found? {
        let (comma, equals, blank) = (UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: " "))
        // As in InfluxDB, NUL before a line is a blank, too.
        let start =
            line.firstIndex { $0 != blank && $0 != UInt8(ascii: "\t") && $0 != 0 }
            ?? line.count
        let end = LineSeries.next(blank, in: line, start..<line.count)
        var position = LineSeries.next(comma, in: line, start..<end)
        let experiment = LineSeries.text(line[start..<position], special: [comma, blank])
        guard !experiment.isEmpty else { return nil }
        var found = Found(experiment: experiment, isWhole: end < line.count)
        while position < end {
            let first = position + 1
            position = LineSeries.next(comma, in: line, first..<end)
            let middle = LineSeries.next(equals, in: line, first..<position)
            guard middle > first, middle + 1 < position else {
                found.isWhole = false
                continue
            }
            found.tags.append(LineSeries.pair(line, first, middle, position))
        }
        found.others = LineSeries.pairs(line, from: end)
        // A tag that comes twice: the line break before another line is missing.
        let names = Set(found.tags.map { Name($0.name) })
        if found.others.contains(where: { names.contains(Name($0.name)) }) {
            (found.isOne, found.isWhole) = (false, false)
        }
        return found
    }

    /// Returns the unquoted `name=value` that follow a comma.
    private static func pairs(_ line: [UInt8], from start: Int) -> [(name: String, value: String)] {
        var pairs: [(name: String, value: String)] = []
        var position = LineSeries.next(UInt8(ascii: ","), in: line, start..<line.count)
        while position < line.count {
            let first = position + 1
            position = LineSeries.next(UInt8(ascii: ","), in: line, first..<line.count)
            let end = LineSeries.next(UInt8(ascii: " "), in: line, first..<position)
            let middle = LineSeries.next(UInt8(ascii: "="), in: line, first..<end)
            if middle > first, middle + 1 < end, line[middle + 1] != UInt8(ascii: "\"") {
                pairs.append(LineSeries.pair(line, first, middle, end))
            }
        }
        return pairs
    }

    private static func pair(
        _ line: [UInt8], _ first: Int, _ middle: Int, _ end: Int
    ) -> (name: String, value: String) {
        let special = Array(",= ".utf8)
        return (
            LineSeries.text(line[first..<middle], special: special),
            LineSeries.text(line[(middle + 1)..<end], special: special)
        )
    }

    /// Parses an item such as `{"measurement":"dev","tags":{"id_participant":"p1"},...}`, possibly
    /// truncated. Its experiment and its tags are members of the item itself, or else the first of
    /// their name at any depth. Without an object `tags`, every name with a string or number is
    /// taken as a tag: those of the item itself, or else all. So they are if braces do not match.
    private static func item(_ item: [UInt8]) -> Found? {
        var words = JSONWords(item)
        // A refused row of an answer of InfluxDB.
        let isAnswer = item.starts(with: "{\"results\":".utf8)
        let experimentName = Name(isAnswer ? "name" : "measurement")
        let ownDepth = isAnswer ? 3 : 1
        var experiments: (own: String?, first: String?)
        var all: [(name: String, value: String)] = []
        var own: [(name: String, value: String)] = []
        var tagged: [(object: Int, name: String, value: String)] = []
        while let pair = words.nextPair() {
            if words.openTags == nil, Name(pair.name) == experimentName {
                let isNew = experiments.first == nil
                experiments.first = experiments.first ?? pair.value
                if words.depth == ownDepth { experiments.own = experiments.own ?? pair.value }
                if isNew { continue }
            }
            if pair.value.isEmpty { continue }
            all.append(pair)
            if words.depth == ownDepth { own.append(pair) }
            if let object = words.openTags { tagged.append((object, pair.name, pair.value)) }
        }
        var found = Found(
            experiment: experiments.own ?? experiments.first ?? "",
            tags: own.isEmpty || words.isUnbalanced ? all : own,
            isOne: !words.isUnbalanced && words.depth == 0,
            isWhole: experiments.own != nil || experiments.first == nil)
        let ownTags = words.tagsDepths.firstIndex(of: ownDepth)
        found.isWhole =
            found.isWhole && !words.isUnbalanced && (ownTags != nil || words.tagsDepths.isEmpty)
            && (found.isOne || !LineSeries.repeatsMembers(item))
        let object = ownTags ?? (own.isEmpty ? words.tagsDepths.indices.first : nil)
        if let object, !words.isUnbalanced {
            found.tags = tagged.filter { $0.object == object }.map { ($0.name, $0.value) }
        }
        return experiments.first == nil && found.tags.isEmpty ? nil : found
    }

    /// Whether an item that does not end may have another one inside: members come twice that an
    /// item has once.
    private static func repeatsMembers(_ item: [UInt8]) -> Bool {
        ["\"measurement\"", "\"tags\"", "\"id_participant\""].contains {
            item.ranges(of: Array($0.utf8)).count > 1
        }
    }

    /// Returns the next position of an unescaped byte; the end of the range if there is none. As in
    /// InfluxDB, a byte is escaped if a backslash stands before it, escaped or not.
    private static func next(_ byte: UInt8, in line: [UInt8], _ range: Range<Int>) -> Int {
        let found = range.first { index in
            line[index] == byte
                && (index == range.lowerBound || line[index - 1] != UInt8(ascii: "\\"))
        }
        return found ?? range.upperBound
    }

    private static func text(_ bytes: ArraySlice<UInt8>, special: [UInt8]) -> String {
        var plain: [UInt8] = []
        for byte in bytes {
            if plain.last == UInt8(ascii: "\\"), special.contains(byte) { plain.removeLast() }
            plain.append(byte)
        }
        return String(decoding: plain, as: UTF8.self)
    }
}

/// A lenient scanner of name-value pairs in JSON. It accepts anything.
private struct JSONWords {
    private let bytes: [UInt8]
    private var index = 0
    /// The number of objects around the last pair.
    private(set) var depth = 0
    /// The number of objects around each object that is called `tags` and is in no other of these.
    private(set) var tagsDepths: [Int] = []
    /// The index of the one around the last pair; nil if there is none.
    private(set) var openTags: Int?
    /// Whether a pair was found in no object, or another object follows the first.
    private(set) var isUnbalanced = false
    private var isClosed = false

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// Returns the next string that is followed by a colon and a string or number.
    mutating func nextPair() -> (name: String, value: String)? {
        while let byte {
            guard byte == UInt8(ascii: "\"") else {
                index += 1
                if byte == UInt8(ascii: "{") {
                    if isClosed { isUnbalanced = true }
                    depth += 1
                }
                if byte == UInt8(ascii: "}") {
                    depth -= 1
                    isClosed = isClosed || depth < 1
                }
                if let openTags, depth <= tagsDepths[openTags] { self.openTags = nil }
                continue
            }
            let name = text()
            skipBlanks()
            guard self.byte == UInt8(ascii: ":") else { continue }
            index += 1
            skipBlanks()
            if openTags == nil, self.byte == UInt8(ascii: "{"), Name(name) == Name("tags") {
                openTags = tagsDepths.count
                tagsDepths.append(depth)
                depth += 1
                index += 1
                continue
            }
            if depth < 1 { isUnbalanced = true }
            if self.byte == UInt8(ascii: "\"") { return (name, text()) }
            let word = bytes[index...].prefix { $0.isWord || "+-.".utf8.contains($0) }
            index += word.count
            // null, true and false name nobody.
            if let first = word.first, first.isDigit || "+-.".utf8.contains(first) {
                return (name, String(decoding: word, as: UTF8.self))
            }
        }
        return nil
    }

    private mutating func skipBlanks() {
        while byte?.isBlank == true { index += 1 }
    }

    /// Parses the quoted string that starts here.
    private mutating func text() -> String {
        index += 1
        var units: [UInt8] = []
        while let byte, byte != UInt8(ascii: "\"") {
            index += 1
            guard byte == UInt8(ascii: "\\"), let escape = self.byte else {
                units.append(byte)
                continue
            }
            index += 1
            switch escape {
            case UInt8(ascii: "b"): units.append(0x08)
            case UInt8(ascii: "f"): units.append(0x0C)
            case UInt8(ascii: "n"): units.append(0x0A)
            case UInt8(ascii: "r"): units.append(0x0D)
            case UInt8(ascii: "t"): units.append(0x09)
            case UInt8(ascii: "u"): units += Array(codeUnits().utf8)
            default: units.append(escape)
            }
        }
        index += 1
        return String(decoding: units, as: UTF8.self)
    }

    /// Parses a `\u` escape of four digits and those directly after it (surrogate pairs).
    private mutating func codeUnits() -> String {
        var units: [UInt16] = []
        repeat {
            let end = Swift.min(index + 4, bytes.count)
            let digits = String(decoding: bytes[Swift.min(index, end)..<end], as: UTF8.self)
            guard let unit = UInt16(digits, radix: 16) else { break }
            units.append(unit)
            index = end
            guard bytes[index...].starts(with: "\\u".utf8) else { break }
            index += 2
        } while true
        return String(decoding: units, as: UTF16.self)
    }
}
