// Participants that were forgotten, without their names: what a name hashes to with a salt of the
// database; docs/format/manifest.md. Part of every manifest, so that data and list change at once.

/// The participants that a database has forgotten and does not take in again.
///
/// Names are not in it, only SHA-256 of a random salt and the name. That keeps a name from being
/// read off; whoever has the list can still find out whether a name they guess is on it.
public struct ForgottenList: Hashable, Sendable {
    /// The digests made with one salt.
    struct Part: Hashable, Sendable {
        let salt: [UInt8]
        /// Ascending, each once.
        var digests: [[UInt8]] = []
    }

    /// The database's own first; the others came from lists with another salt.
    private(set) var parts: [Part] = []

    /// Salts that a list can have: each costs a digest for each set of tags that is written.
    static let saltCountMax = 256
    static let digestSizeBytes = 32
    static let saltSizeBytes = 16

    /// Nobody.
    public init() {}

    init(parts: [Part]) {
        for part in parts { merge(part) }
    }

    /// Whether nobody is on it.
    public var isEmpty: Bool { parts.allSatisfy { $0.digests.isEmpty } }

    /// Entries of the list; somebody who came with two salts counts twice.
    public var count: Int { parts.reduce(0) { $0 + $1.digests.count } }

    /// Whether a participant is on it. Names are compared byte by byte. Cost: a digest of the name
    /// for each salt, about a microsecond.
    public func contains(_ participant: String) -> Bool {
        parts.contains { $0.place(of: participant).isThere }
    }

    /// Adds a participant, with a new salt where the list has none.
    mutating func insert(_ participant: String) {
        if contains(participant) { return }
        if parts.isEmpty {
            var generator = SystemRandomNumberGenerator()
            let salt = (0..<ForgottenList.saltSizeBytes).map { _ in
                UInt8.random(in: .min ... .max, using: &generator)
            }
            parts.append(Part(salt: salt))
        }
        let (place, digest, _) = parts[0].place(of: participant)
        parts[0].digests.insert(digest, at: place)
    }

    /// Takes a participant off; false where he is not on it.
    mutating func remove(_ participant: String) -> Bool {
        var isRemoved = false
        for index in parts.indices {
            let (place, _, isThere) = parts[index].place(of: participant)
            if isThere { parts[index].digests.remove(at: place) }
            isRemoved = isRemoved || isThere
        }
        // An own salt that is told may be told again: the next list is of another.
        parts.removeAll { $0.digests.isEmpty }
        return isRemoved
    }

    /// Adds everybody of another list.
    mutating func merge(_ other: ForgottenList) {
        for part in other.parts { merge(part) }
    }

    /// - Throws: `limitExceeded` where there are too many salts.
    func checkSalts() throws(DatabaseError) {
        try ForgottenList.checkSalts(parts.count)
    }

    static func checkSalts(_ count: Int) throws(DatabaseError) {
        guard count > saltCountMax else { return }
        throw DatabaseError(
            .limitExceeded,
            "a list of forgotten participants of more than \(saltCountMax) databases (salts); "
                + "take over the lists of fewer")
    }

    private mutating func merge(_ part: Part) {
        guard let index = parts.firstIndex(where: { $0.salt == part.salt }) else {
            var part = part
            part.digests.sort { $0.lexicographicallyPrecedes($1) }
            part.digests.removeRepetitions()
            if !part.digests.isEmpty { parts.append(part) }
            return
        }
        parts[index].digests += part.digests
        parts[index].digests.sort { $0.lexicographicallyPrecedes($1) }
        parts[index].digests.removeRepetitions()
    }
}

extension ForgottenList.Part {
    /// Where a participant's digest is, or belongs.
    fileprivate func place(
        of participant: String
    ) -> (index: Int, digest: [UInt8], isThere: Bool) {
        let digest = sha256(salt + Array(participant.utf8))
        var (index, end) = (0, digests.count)
        while index < end {
            let middle = (index + end) / 2
            if digests[middle].lexicographicallyPrecedes(digest) {
                index = middle + 1
            } else {
                end = middle
            }
        }
        return (index, digest, index < digests.count && digests[index] == digest)
    }
}

extension [[UInt8]] {
    /// Keeps of equal neighbours the first.
    fileprivate mutating func removeRepetitions() {
        var kept: [[UInt8]] = []
        for element in self where kept.last != element { kept.append(element) }
        self = kept
    }
}

extension ByteWriter {
    mutating func append(_ list: ForgottenList) {
        appendVarint(list.parts.count)
        for part in list.parts {
            append(part.salt)
            appendVarint(part.digests.count)
            for digest in part.digests { append(digest) }
        }
    }
}

extension ByteReader {
    mutating func readForgottenList() throws(FormatError) -> ForgottenList {
        var parts: [ForgottenList.Part] = []
        for _ in 0..<(try readCount(limit: ForgottenList.saltCountMax)) {
            var part = ForgottenList.Part(
                salt: [UInt8](copying: try readBytes(ForgottenList.saltSizeBytes)))
            let count = try readCount(limit: remaining / ForgottenList.digestSizeBytes)
            part.digests.reserveCapacity(count)
            for _ in 0..<count {
                part.digests.append([UInt8](copying: try readBytes(ForgottenList.digestSizeBytes)))
            }
            parts.append(part)
        }
        return ForgottenList(parts: parts)
    }
}
