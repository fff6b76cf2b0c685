// The damaged folder, `damaged/<time>/` inside the database, which keeps what a repair removes.
// Files are copied and durable before anything else changes. Repairs never change or remove them.

/// The folder for the files of one repair.
struct DamagedFolder {
    /// Relative to the database.
    let path: String
    private let folder: any Directory
    private let parent: any Directory

    private static let pieceSizeBytes = 1 << 20

    /// Creates the folder under an unused name.
    init(in directory: any Directory, at time: Timestamp) throws(DatabaseError) {
        (parent, folder, path) = try calling("making the folder for damaged files") {
            () throws(FileError) in
            let parent = try directory.openDirectory(FileName.damagedDirectory, create: true)
            let known = try parent.list()
            let stem = time.description.parts(separatedBy: ":").joined(separator: "-")
            var name = stem
            var number = 2
            while known.contains(name) {
                name = "\(stem)-\(number)"
                number += 1
            }
            let folder = try parent.openDirectory(name, create: true)
            return (parent, folder, FileName.damagedDirectory + "/" + name)
        }
    }

    /// Copies a file.
    ///
    /// - Returns: the number of unreadable bytes, which are zeros in the copy.
    func copy(_ name: String, from directory: any Directory) throws(DatabaseError) -> Int {
        try calling("copying a file to the damaged folder") { () throws(FileError) in
            let source = try directory.open(name, writable: false)
            let target = try folder.create(name)
            let size = try source.size()
            var unreadable = 0
            for start in stride(from: 0, to: size, by: DamagedFolder.pieceSizeBytes) {
                let count = min(DamagedFolder.pieceSizeBytes, size - start)
                let found = try source.readReadable(count: count, at: start)
                let bytes = found.bytes
                try target.writeAll(bytes.span, at: start)
                unreadable += found.unreadable
            }
            try target.syncData()
            return unreadable
        }
    }

    /// Writes the report next to the files and makes everything durable.
    func finish(_ report: [String]) throws(DatabaseError) {
        try calling("writing the report of the repair") { () throws(FileError) in
            let file = try folder.create("report.txt")
            // Names may contain control characters, and the report is read on a terminal.
            let lines = report.map { ControlText.escaped($0) + "\n" }
            let text = Array(lines.joined().utf8)
            try file.writeAll(text.span, at: 0)
            try file.syncData()
            try folder.sync()
            try parent.sync()
        }
    }
}
