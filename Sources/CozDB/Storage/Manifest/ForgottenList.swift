// Participants that were forgotten, without their names: what a name hashes to with a salt of the
// database; docs/format/manifest.md.

/// Part of every manifest, so that data and this list change at once.
struct ForgottenList: Equatable, Sendable {
    /// Random; empty until the first is forgotten.
    var salt: [UInt8] = []
    /// SHA-256 of the salt and the bytes of a participant's name, ascending, each once.
    var digests: [[UInt8]] = []

    static let digestSizeBytes = 32
    static let saltSizeBytes = 16
}

extension ByteWriter {
    mutating func append(_ list: ForgottenList) {
        appendVarint(list.digests.count)
        guard !list.digests.isEmpty else { return }
        append(list.salt)
        for digest in list.digests { append(digest) }
    }
}

extension ByteReader {
    mutating func readForgottenList() throws(FormatError) -> ForgottenList {
        var list = ForgottenList()
        let count = try readCount(limit: remaining / ForgottenList.digestSizeBytes)
        guard count > 0 else { return list }
        list.salt = [UInt8](copying: try readBytes(ForgottenList.saltSizeBytes))
        list.digests.reserveCapacity(count)
        for _ in 0..<count {
            list.digests.append([UInt8](copying: try readBytes(ForgottenList.digestSizeBytes)))
        }
        return list
    }
}
