// The list of forgotten participants, as salted digests; see docs/format/manifest.md. It is part of
// the manifest, so that data and list change atomically.

/// The participants that a database has forgotten and refuses from then on.
///
/// It holds no names, only SHA-256 of a random salt and the name. Names cannot be read from it, but
/// anyone who has the list can test whether a given name is on it.
public struct ForgottenList: Hashable, Sendable {
    struct Part: Hashable, Sendable {
        let salt: [UInt8]
        /// Sorted, without duplicates.
        var digests: [[UInt8]] = []
    }

    /// The database's own salt first, then those of merged lists.
    private(set) var parts: [Part] = []

    /// Maximum number of salts. Writing a tag set computes one digest per salt.
    static let saltCountMax = 256
    static let digestSizeBytes = 32
    static let saltSizeBytes = 16

    /// Creates an empty list.
    public init() {}

    init(parts: [Part]) {
        for part in parts { merge(part) }
    }

    /// Whether the list is empty.
    public var isEmpty: Bool { parts.allSatisfy { $0.digests.isEmpty } }

    /// Number of entries. A participant with digests of two salts counts twice.
    public var count: Int { parts.reduce(0) { $0 + $1.digests.count } }

    /// Whether a participant is on the list. Names are compared byte by byte. Cost: one digest per
    /// salt, about a microsecond each.
    public func contains(_ participant: String) -> Bool {
        parts.contains { $0.contains(participant) }
    }

    /// Adds participants. Creates a salt if the list has none.
    mutating func insert(_ participants: [String]) {
        let new = participants.filter { !contains($0) }
        if new.isEmpty { return }
        if parts.isEmpty {
            var generator = SystemRandomNumberGenerator()
            let salt = (0..<ForgottenList.saltSizeBytes).map { _ in
                UInt8.random(in: .min ... .max, using: &generator)
            }
            parts.append(Part(salt: salt))
        }
        var added = Part(salt: parts[0].salt)
        added.digests = new.map { added.digest(of: $0) }
        merge(added)
    }

    /// Removes participants and returns those that were on the list.
    mutating func remove(_ participants: [String]) -> [String] {
        let removed = participants.filter { contains($0) }
        for index in parts.indices {
            let digests = Set(removed.map { parts[index].digest(of: $0) })
            parts[index].digests.removeAll { digests.contains($0) }
        }
        // A list without digests drops its salt, so that the next one uses a new salt: the old one
        // may be known from an exported list.
        parts.removeAll { $0.digests.isEmpty }
        return removed
    }

    mutating func merge(_ other: ForgottenList) {
        for part in other.parts { merge(part) }
    }

    /// Maximum number of entries, which take half of a manifest.
    private static let countMax = 4_000_000

    /// Throws `limitExceeded` if there are too many salts or entries.
    func checkSize() throws(DatabaseError) {
        try ForgottenList.checkSalts(parts.count)
        guard count > ForgottenList.countMax else { return }
        throw DatabaseError(
            .limitExceeded,
            "found \(count) forgotten participants, expected at most \(ForgottenList.countMax)")
    }

    static func checkSalts(_ count: Int) throws(DatabaseError) {
        guard count > saltCountMax else { return }
        throw DatabaseError(
            .limitExceeded,
            "found more than \(saltCountMax) salts in a list of forgotten participants; merge "
                + "lists of fewer databases")
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
    fileprivate func digest(of participant: String) -> [UInt8] {
        sha256(salt + Array(participant.utf8))
    }

    fileprivate func contains(_ participant: String) -> Bool {
        let digest = digest(of: participant)
        var (index, end) = (0, digests.count)
        while index < end {
            let middle = (index + end) / 2
            if digests[middle].lexicographicallyPrecedes(digest) {
                index = middle + 1
            } else {
                end = middle
            }
        }
        return index < digests.count && digests[index] == digest
    }
}

extension [[UInt8]] {
    /// Removes adjacent duplicates.
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
