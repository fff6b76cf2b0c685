// Everything that the files of a database hold, decoded by all means there are: raw bytes,
// payloads, frames, entries, keys, dictionaries, blocks, statistics, names. What is not in here is
// nowhere.

import CozTestSupport
import Foundation
import Testing

@testable import CozDB

struct StoredBytes {
    /// What is in each file, raw and decoded, by the file's name.
    private(set) var files: [String: [UInt8]] = [:]
    /// Files that the manifest does not name.
    private(set) var unnamed: [String] = []

    init(_ path: String, on system: any FileSystem) throws {
        let directory = try system.openDirectory(path, create: false, access: .ownerOnly)
        let manifest = try #require(try Manifest.read(in: directory))
        for name in try directory.list() {
            if name == FileName.rejectsDirectory {
                try addRejects(directory, manifest)
                continue
            }
            let bytes = try StoredBytes.bytes(name, in: directory)
            add(name, bytes)
            switch FileName(name) {
            case .manifest:
                let payload = Array(bytes[Manifest.headerSizeBytes...])
                add(name, try decompressedBytes(payload.span, limit: 1 << 30))
            case .log: try addLog(name, directory)
            case .segment(let number):
                guard let info = manifest.segments.first(where: { $0.number == number }) else {
                    unnamed.append(name)
                    continue
                }
                try add(SegmentReader(in: directory, info, databaseID: manifest.databaseID), name)
            case .manifestDraft, .logDraft, .repairMark, nil: unnamed.append(name)
            case .lock, .rejects, .backupMark, .incompleteMark: break
            }
        }
    }

    private static func bytes(_ name: String, in directory: any Directory) throws -> [UInt8] {
        let file = try directory.open(name, writable: false)
        return try file.readAll(count: try file.size(), at: 0)
    }

    private mutating func add(_ name: String, _ bytes: [UInt8]) {
        files[name, default: []] += bytes + [0]
    }

    private mutating func add(_ name: String, _ text: String) { add(name, Array(text.utf8)) }

    private mutating func add(_ name: String, word: UInt64) {
        add(name, (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) })
    }

    private mutating func addRejects(_ directory: any Directory, _ manifest: Manifest) throws {
        let folder = try directory.openDirectory(FileName.rejectsDirectory, create: false)
        for name in try folder.list() {
            add(name, try StoredBytes.bytes(name, in: folder))
            guard case .rejects(let number) = FileName(name),
                let info = manifest.rejects.first(where: { $0.number == number })
            else {
                unnamed.append(name)
                continue
            }
            let entries = try RejectsFile.read(
                info, under: directory, databaseID: manifest.databaseID)
            for entry in entries { add(name, "\(entry)") }
            for case .refusal(let refusal) in entries {
                if case .line(let line) = refusal.subject { add(name, line) }
                for word in refusal.mentions(tags: []).words { add(name, word.text) }
            }
        }
    }

    private mutating func addLog(_ name: String, _ directory: any Directory) throws {
        let file = try directory.open(name, writable: false)
        let identity = try LogIdentity.read(
            header: file.readAll(count: LogFormat.headerSizeBytes, at: 0))
        var reader = try LogReader(file, expecting: identity, sealedSizeBytes: nil)
        while let frame = try reader.next() {
            for commit in frame.commits { add(name, commit) }
        }
    }

    private mutating func add(_ segment: SegmentReader, _ name: String) throws {
        add(name, segment.footer.experimentName)
        try segment.forEachSeries {
            add(name, $0.key.bytes)
            for tag in $0.key.tags { add(name, tag.value) }
            add(name, word: UInt64(bitPattern: $0.firstTime))
            add(name, word: UInt64(bitPattern: $0.lastTime))
        }
        let rows = 0..<segment.footer.rowCount
        for time in try segment.times(rows: rows) { add(name, word: UInt64(bitPattern: time)) }
        for (field, entry) in segment.footer.fields.enumerated() {
            add(name, entry.column.name)
            var reader = try SegmentColumnReader(segment, field: field)
            let directory = reader.directory
            if entry.column.type == .string { add(name, table: try segment.dictionary(field)) }
            for block in 0..<directory.count {
                let summary = directory.summary(block, type: entry.column.type)
                for word in [summary.min, summary.max, summary.sum, summary.first, summary.last] {
                    add(name, word: word)
                }
                let slice = try reader.values(block: block, rows: rows)
                if entry.column.type == .string { add(name, table: slice.strings) }
                for bits in slice.bits {
                    add(name, word: bits)
                    if entry.column.type == .string { add(name, slice.strings.text(bits)) }
                }
            }
        }
    }

    private mutating func add(_ name: String, table: StringTable) {
        for code in 0..<table.count { add(name, table.text(UInt64(code))) }
    }

    /// Which of some markers are in which files.
    func places(of markers: [String: [UInt8]]) -> [String] {
        var places: [String] = []
        for (name, bytes) in files {
            let data = Data(bytes)
            for (marker, part) in markers where data.range(of: Data(part)) != nil {
                places.append("\(marker) in \(name)")
            }
        }
        return places.sorted()
    }
}
