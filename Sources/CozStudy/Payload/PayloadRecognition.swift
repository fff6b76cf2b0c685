// Detects payloads by the first bytes of a file.

internal import CozImport

enum PayloadRecognition {
    private static let blanks: [UInt8] = [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF]
    private static let containers = ["tags", "fields", "fields_int", "fields_float", "fields_str"]

    /// Whether the bytes begin with a bracket, brace or quote and contain names typical of items.
    static func recognizes(_ head: [UInt8]) -> Bool {
        guard let first = head.firstIndex(where: { !blanks.contains($0) }),
            "[{\"".utf8.contains(head[first])
        else { return false }
        if isEmpty(head[first...]) { return true }
        // Rows of `cozdb export` and InfluxDB responses look similar.
        if ObjectFormats.isExport(head) || contains(Array(head.prefix(64)), "\"results\"") {
            return false
        }
        // JSON lines may also be a table whose columns have any name.
        if isLines(head[first...]) { return hasItem(head[first...]) }
        func has(_ name: String) -> Bool {
            // Inside a JSON string a backslash precedes the quote.
            contains(head, "\"\(name)\"") || contains(head, "\\\"\(name)\\\"")
        }
        if has("measurement") { return true }
        return (["time"] + containers).count(where: has) >= 2
    }

    /// Whether the bytes contain only empty arrays and objects.
    private static func isEmpty(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.first != UInt8(ascii: "\"")
            && bytes.allSatisfy { blanks.contains($0) || "[]{},".utf8.contains($0) }
    }

    /// Whether a top-level object has a measurement and an object with tags or fields.
    private static func hasItem(_ bytes: ArraySlice<UInt8>) -> Bool {
        var keys = TopLevelKeys(bytes)
        var hasMeasurement = false
        var hasContainer = false
        var object = 0
        while let key = keys.next() {
            if key.object != object {
                (object, hasMeasurement, hasContainer) = (key.object, false, false)
            }
            if key.name.elementsEqual("measurement".utf8) { hasMeasurement = true }
            if key.value == UInt8(ascii: "{") {
                let isContainer = containers.contains { key.name.elementsEqual($0.utf8) }
                hasContainer = hasContainer || isContainer
            }
            if hasMeasurement, hasContainer { return true }
        }
        return false
    }

    /// Whether the first line is an object and the next line begins with one.
    private static func isLines(_ bytes: ArraySlice<UInt8>) -> Bool {
        let blanks: [UInt8] = [0x20, 0x09, 0x0D]
        guard bytes.first == UInt8(ascii: "{"), let end = bytes.firstIndex(of: 0x0A) else {
            return false
        }
        let last = bytes[..<end].last { !blanks.contains($0) }
        let next = bytes[end...].dropFirst().first { !blanks.contains($0) && $0 != 0x0A }
        return last == UInt8(ascii: "}") && next == UInt8(ascii: "{")
    }

    private static func contains(_ bytes: [UInt8], _ text: String) -> Bool {
        let text = Array(text.utf8)
        guard bytes.count >= text.count else { return false }
        return (0...(bytes.count - text.count)).contains { start in
            bytes[start] == text[0] && bytes[start..<(start + text.count)].elementsEqual(text)
        }
    }
}

/// Iterates over the keys of top-level objects. Does not validate: on invalid JSON it may return
/// some keys or none.
private struct TopLevelKeys {
    struct Key {
        /// The raw bytes between the quotes.
        var name: ArraySlice<UInt8>
        var value: UInt8
        /// The number of the object, from 1.
        var object: Int
    }

    private let bytes: ArraySlice<UInt8>
    private var rest: ArraySlice<UInt8>
    private var object = 0
    private var depth = 0

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        rest = bytes
    }

    mutating func next() -> Key? {
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "{"):
                if depth == 0 { object += 1 }
                depth += 1
            case UInt8(ascii: "["):
                if depth > 0 { depth += 1 }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth > 0 { depth -= 1 }
            case UInt8(ascii: "\""):
                let name = string()
                guard depth == 1 else { continue }
                let after = rest.drop { $0 <= 0x20 }
                guard after.first == UInt8(ascii: ":") else { continue }
                guard let value = after.dropFirst().first(where: { $0 > 0x20 }) else { return nil }
                return Key(name: name, value: value, object: object)
            default: break
            }
        }
        return nil
    }

    /// Consumes the rest of a string and returns its contents.
    private mutating func string() -> ArraySlice<UInt8> {
        let start = rest.startIndex
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return bytes[start..<(rest.startIndex - 1)] }
            if byte == UInt8(ascii: "\\") { _ = rest.popFirst() }
        }
        return bytes[start...]
    }
}
