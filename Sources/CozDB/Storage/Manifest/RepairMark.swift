// A marker file that tells which files a repair writes. If the repair does not finish, they are
// copies of what other files hold: a later repair must not take them for newer data.

internal import CozPlatform

/// The content of the file `REPAIR`; docs/format/README.md.
struct RepairMark: Equatable {
    var databaseID: UInt64
    /// The number of the first file that the repair writes.
    var firstNumber: UInt64
    /// The generation before that of the repaired manifest. If the lock file or the manifest has a
    /// later one, the repair was finished or a writer has come since, and the marker says nothing.
    var generation: UInt64
    /// Whether the repair adopts files that the manifest does not name. Until it is finished, these
    /// must not be removed, even if the lock file names that manifest by then.
    var adopts: Bool

    /// More than any content has.
    private static let sizeBytesMax = 200

    private static func check(of text: String) -> String {
        String(checksum(Array(text.utf8).span, seed: 0))
    }

    /// Reads the marker; nil if there is none, or none that is complete: it comes before the files.
    static func read(in directory: any Directory) throws(DatabaseError) -> RepairMark? {
        do throws(FileError) {
            let file = try directory.open(FileName.repairMark.text, writable: false)
            let bytes = try file.readAll(count: min(file.size(), sizeBytesMax), at: 0)
            return RepairMark(String(decoding: bytes, as: UTF8.self))
        } catch {
            if error.isNotFound || error.isWrongFileType { return nil }
            throw DatabaseError(error, while: "reading the mark of a repair")
        }
    }

    /// Whether the marker is of a repair of these files that did not finish.
    func isValid(_ manifest: Manifest?, _ acknowledged: AcknowledgedState?) -> Bool {
        (acknowledged?.generation ?? 0) <= generation
            && databaseID == acknowledged?.databaseID ?? databaseID
            && databaseID == manifest?.databaseID ?? databaseID
            // The manifest that completes a repair is a later one and names its files.
            && manifest?.generation ?? 0 <= generation
            && manifest?.nextFileNumber ?? 0 <= firstNumber
    }

    /// Writes the marker durably.
    func write(in directory: any Directory) throws(FileError) {
        try RepairMark.remove(in: directory)
        let file = try directory.create(FileName.repairMark.text)
        let fields = "\(databaseID) \(firstNumber) \(generation) \(adopts ? 1 : 0)"
        let text = "\(fields) \(RepairMark.check(of: fields))\n"
        try file.writeAll(Array(text.utf8).span, at: 0)
        try file.syncData()
        try directory.sync()
    }

    /// Removes the marker durably.
    static func remove(in directory: any Directory) throws(FileError) {
        do throws(FileError) {
            try directory.remove(FileName.repairMark.text)
        } catch {
            // A folder of that name is no marker.
            if error.isNotFound || error.code == EISDIR || error.code == EPERM { return }
            throw error
        }
        try directory.sync()
    }
}

extension RepairMark {
    /// Parses the content; nil if it is not complete.
    private init?(_ text: String) {
        let words = text.parts(separatedBy: " ")
        let body = words.dropLast().joined(separator: " ")
        guard words.last == RepairMark.check(of: body) + "\n" else { return nil }
        let numbers = words.dropLast().compactMap { UInt64($0) }
        guard numbers.count == 4 else { return nil }
        self.init(
            databaseID: numbers[0], firstNumber: numbers[1], generation: numbers[2],
            adopts: numbers[3] == 1)
    }
}
