// Text form of the list of forgotten participants, to be stored with backups. A checksum protects
// it: with a corrupt digest, a forgotten participant could come back unnoticed.

extension ForgottenList {
    private static let title = "cozdb-forgotten 1"

    /// The list as text: a title line; for each salt `salt HEX` and its digests `sha256 HEX`; and
    /// `check HEX`, a checksum of all lines before. `init(text:)` reads it.
    public var text: String {
        var lines = [ForgottenList.title]
        for part in parts {
            lines.append("salt \(ForgottenList.hex(part.salt))")
            lines += part.digests.map { "sha256 \(ForgottenList.hex($0))" }
        }
        let body = lines.joined(separator: "\n") + "\n"
        return body + "check \(ForgottenList.checkText(body))\n"
    }

    /// Reads the output of `text` or `json`.
    ///
    /// - Throws: `usage` if the text is not a complete list; `limitExceeded` if it has more than
    ///   256 salts.
    public init(text: String) throws(DatabaseError) {
        let isJSON = text.utf8.first { !$0.isBlank } == UInt8(ascii: "{")
        let lines = isJSON ? ForgottenList.lines(ofJSON: text) : ForgottenList.lines(text)
        guard lines.first == ForgottenList.title else {
            throw DatabaseError(
                .usage,
                "not a list of forgotten participants: expected \"\(ForgottenList.title)\" in the "
                    + "first line; export the list again", remedy: .listForgotten)
        }
        var parts: [Part] = []
        for (index, line) in lines.enumerated().dropFirst() {
            let words = line.parts(separatedBy: " ", keepsEmpty: false)
            let bytes = words.count == 2 ? ForgottenList.bytes(words[1]) : nil
            switch (words.first, bytes) {
            case ("salt", let salt?) where salt.count == ForgottenList.saltSizeBytes:
                parts.append(Part(salt: salt))
                try ForgottenList.checkSalts(parts.count)
                continue
            case ("sha256", let digest?)
            where digest.count == ForgottenList.digestSizeBytes && !parts.isEmpty:
                parts[parts.count - 1].digests.append(digest)
                continue
            case ("check", _?) where index == lines.count - 1:
                let body = lines.dropLast().joined(separator: "\n") + "\n"
                if words[1] == ForgottenList.checkText(body) {
                    self.init(parts: parts)
                    return
                }
            default: break
            }
            throw DatabaseError(
                .usage,
                "line \(index + 1) of the list of forgotten participants is corrupt; use another "
                    + "copy of the list", remedy: .listForgotten)
        }
        throw DatabaseError(
            .usage,
            "the list of forgotten participants does not end with a line \"check\", so it is "
                + "truncated; use another copy of the list", remedy: .listForgotten)
    }

    /// The same lines as JSON: `{"forgotten": ["cozdb-forgotten 1", ...]}`.
    public var json: String {
        let lines = ForgottenList.lines(text).map { "    \"\($0)\"" }
        return "{\n  \"forgotten\": [\n\(lines.joined(separator: ",\n"))\n  ]\n}\n"
    }

    private static func lines(_ text: String) -> [String] {
        text.utf8.split { $0 == 0x0A || $0 == 0x0D }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the strings after the key. They have no escapes.
    private static func lines(ofJSON text: String) -> [String] {
        let pieces = text.utf8.split(
            separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
        let quoted = stride(from: 1, to: pieces.count, by: 2).map {
            String(decoding: pieces[$0], as: UTF8.self)
        }
        return quoted.first == "forgotten" ? Array(quoted.dropFirst()) : []
    }

    private static func checkText(_ body: String) -> String {
        let value = checksum(Array(body.utf8).span)
        return hex((0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32($0))) })
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
            as: UTF8.self)
    }

    private static func bytes(_ hex: String) -> [UInt8]? {
        let digits = Array(hex.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            let pair = String(decoding: digits[index..<(index + 2)], as: UTF8.self)
            guard digits[index] != UInt8(ascii: "+"), let byte = UInt8(pair, radix: 16) else {
                return nil
            }
            bytes.append(byte)
        }
        return bytes
    }
}
