// A marker file that tells which files a repair writes. If the repair does not finish, they are
// copies of what other files hold: a later repair must not take them for newer data.

/// The file `REPAIR`: the number of the first file that a repair writes, in decimal digits.
enum RepairMark {
    /// More than any number has.
    private static let sizeBytesMax = 32

    /// The number in the marker; nil if there is none. One that was not written completely counts
    /// as none, because it comes before the files.
    static func read(in directory: any Directory) throws(DatabaseError) -> UInt64? {
        do throws(FileError) {
            let file = try directory.open(FileName.repairMark.text, writable: false)
            let bytes = try file.readAll(count: min(file.size(), sizeBytesMax), at: 0)
            guard bytes.last == UInt8(ascii: "\n") else { return nil }
            return UInt64(String(decoding: bytes.dropLast(), as: UTF8.self))
        } catch {
            if error.isNotFound { return nil }
            throw DatabaseError(error, while: "reading the mark of a repair")
        }
    }

    /// Writes the marker durably.
    static func write(_ first: UInt64, in directory: any Directory) throws(FileError) {
        try remove(in: directory)
        let file = try directory.create(FileName.repairMark.text)
        try file.writeAll(Array("\(first)\n".utf8).span, at: 0)
        try file.syncData()
        try directory.sync()
    }

    /// Removes the marker durably.
    static func remove(in directory: any Directory) throws(FileError) {
        do throws(FileError) {
            try directory.remove(FileName.repairMark.text)
        } catch {
            if error.isNotFound { return }
            throw error
        }
        try directory.sync()
    }
}
