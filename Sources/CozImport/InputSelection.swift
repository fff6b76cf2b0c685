// The inputs of an import: named files and files of folders, each with its format.

public import CozDB
internal import CozPlatform

/// The open input files of one import, with their formats.
///
/// Opening can block: a named pipe waits for its writer, and detecting a format waits for the first
/// 4096 bytes. Open the inputs before the database, so that its lock is not held meanwhile. Not
/// safe for use by several threads at once.
public struct ImportInputs {
    let selection: InputSelection

    /// Opens the files and detects their formats.
    ///
    /// - Parameters:
    ///   - paths: files and folders, as for `importFiles`.
    ///   - options: the options of the import.
    /// - Throws: `notFound` and `io` for files that cannot be opened or read; `damaged` for gzip
    ///   data; `usage` for unsupported input; `cancelled`.
    public init(_ paths: [String], options: ImportOptions) throws(DatabaseError) {
        selection = try InputSelection(paths, options)
        if let first = selection.inputs.first?.file, !first.isRepeatable { _ = try first.peek() }
    }

    /// Takes bytes in memory as the only input, and detects their format.
    ///
    /// - Parameters:
    ///   - bytes: the contents of a file, plain or gzip.
    ///   - name: the name of the input in messages and in the rejects journal.
    ///   - options: the options of the import.
    /// - Throws: `damaged` for gzip data; `usage` for unsupported input.
    public init(
        bytes: [UInt8], name: String, options: ImportOptions
    ) throws(DatabaseError) {
        selection = try InputSelection([InputFile(bytes: bytes, name: name)], options)
    }

    /// Takes what a task sends as the only input. Waits for its first bytes.
    init(
        stream: ByteStream, name: String, options: ImportOptions
    ) throws(DatabaseError) {
        selection = try InputSelection([InputFile(stream: stream, name: name)], options)
    }
}

/// The files of an import in reading order.
struct InputSelection {
    struct Input {
        var file: InputFile
        var format: InputFormat
        /// Whether a batch may also hold points of the files before and after it.
        var sharesBatches: Bool { file.folder != nil }
    }

    private(set) var inputs: [Input] = []
    /// The number of files in folders that are not read, and the first few of them.
    private(set) var passedOver = 0
    private(set) var passedOverExamples: [String] = []

    /// - Throws: `notFound` and `io` for files that cannot be opened; `usage` for unsupported
    ///   input; `cancelled`.
    init(_ paths: [String], _ options: ImportOptions) throws(DatabaseError) {
        try InputSelection.checkReadOnce(paths)
        // Open everything once before any file is read.
        var files: [InputFile] = []
        let open = { (path: String, folder: String?) throws(DatabaseError) in
            try InputFile(path: path, folder: folder, isCancelled: options.isCancelled)
        }
        for path in paths {
            guard FolderWalk.isFolder(path) else {
                files.append(try open(path, nil))
                continue
            }
            guard options.format?.reads != nil else {
                throw InputSelection.noFolders(path, options)
            }
            let walk = try FolderWalk(path)
            for other in walk.others { skipFile(other) }
            for file in walk.files { files.append(try open(file, path)) }
        }
        try add(files, options)
    }

    /// Checks that no pipe is there twice, by whatever names: two readers would each get parts of
    /// its bytes.
    private static func checkReadOnce(_ paths: [String]) throws(DatabaseError) {
        var known: Set<[UInt64]> = []
        for path in paths {
            let isStandardInput = path == "-"
            var status = stat()
            let answer =
                isStandardInput ? unsafe fstat(0, &status) : unsafe stat(path, &status)
            guard answer == 0, status.st_mode & S_IFMT == S_IFIFO else { continue }
            let (device, number) = (status.st_dev, status.st_ino)
            let identity = [UInt64(truncatingIfNeeded: device), UInt64(truncatingIfNeeded: number)]
            guard known.insert(identity).inserted else {
                throw DatabaseError(
                    .usage,
                    "is the same pipe as an earlier input, which can be read only once; give it "
                        + "once",
                    file: isStandardInput ? "standard input" : path)
            }
        }
    }

    /// - Throws: as the other initializer.
    init(_ files: [InputFile], _ options: ImportOptions) throws(DatabaseError) {
        try add(files, options)
    }

    private mutating func add(
        _ files: [InputFile], _ options: ImportOptions
    ) throws(DatabaseError) {
        for file in files {
            let format = try InputSelection.format(of: file, options)
            if let reads = format.reads, try !reads(file, options) {
                if file.folder == nil {
                    throw DatabaseError(
                        .usage,
                        "is not a file of the format \(format.name); leave it out, or give its "
                            + "format",
                        file: file.name, remedy: .change([.format]))
                }
                skipFile(file.name)
                continue
            }
            // Closes the file: thousands of files must not stay open.
            if file.isRepeatable { try file.rewind() }
            inputs.append(Input(file: file, format: format))
        }
    }

    private mutating func skipFile(_ path: String) {
        passedOver += 1
        if passedOverExamples.count < WriteReport.exampleCountMax {
            passedOverExamples.append(path)
        }
    }

    private static func noFolders(_ path: String, _ options: ImportOptions) -> DatabaseError {
        let names = options.formats.filter { $0.reads != nil }.map(\.name)
        let advice =
            names.isEmpty
            ? "" : "; only the format \(names.joined(separator: ", ")) reads directories"
        return DatabaseError(
            .notFound, "is a directory, expected a file\(advice)", file: path,
            remedy: names.isEmpty ? nil : .change([.format]))
    }

    /// Returns the requested format, or the first one that recognizes the file.
    private static func format(
        of file: InputFile, _ options: ImportOptions
    ) throws(DatabaseError) -> InputFormat {
        if let format = options.format { return format }
        let head = try file.peek()
        if let format = options.formats.first(where: { $0.recognizes(head, file.name) }) {
            return format
        }
        let fallback = options.formats.last ?? .lineProtocol
        if isJSON(head) { throw unknownJSON(file, options) }
        let foreign: [(magic: String, name: String)] = [
            ("PAR1", "Parquet"),
            ("#datatype", "annotated CSV"), ("#group", "annotated CSV"),
            ("#default", "annotated CSV"), ("#constant", "annotated CSV"),
            ("SQLite format 3", "SQLite"), ("PK\u{3}\u{4}", "zip"),
        ]
        for (magic, name) in foreign where head.starts(with: magic.utf8) {
            throw DatabaseError(
                .usage,
                "looks like \(name), expected line protocol; give the format \(fallback.name) to "
                    + "import it anyway",
                file: file.name, remedy: .change([.format]))
        }
        return fallback
    }

    /// Whether the text begins like a JSON object or array. Line protocol never does.
    private static func isJSON(_ head: [UInt8]) -> Bool {
        let text = (head.starts(with: "\u{FEFF}".utf8) ? head[3...] : head[...]).filter {
            $0 > space
        }
        guard text.count >= 2 else { return false }
        return switch text[0] {
        case UInt8(ascii: "{"): "\"}".utf8.contains(text[1])
        case UInt8(ascii: "["): "{[]\"".utf8.contains(text[1])
        default: false
        }
    }

    private static func unknownJSON(
        _ file: InputFile, _ options: ImportOptions
    ) -> DatabaseError {
        let names = options.formats.map(\.name).filter { $0.hasByteSuffix("json") }
        let last = names.last ?? "json"
        let others = names.dropLast().joined(separator: ", ")
        let list = others.isEmpty ? last : "\(others) or \(last)"
        return DatabaseError(
            .usage,
            names.isEmpty
                ? "looks like JSON, which is not supported here"
                : "is JSON of an unknown format, expected \(list); give its format",
            file: file.name, remedy: names.isEmpty ? nil : .change([.format]))
    }
}
