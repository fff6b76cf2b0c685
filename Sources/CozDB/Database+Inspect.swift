// Prints any database file as text, for debugging.

extension Database {
    /// Prints a manifest, log, segment or rejects file, one piece at a time. The file must be in
    /// its database directory, because its manifest is needed. The content is verified as it is
    /// printed.
    ///
    /// - Throws: `notFound` if the file belongs to no CozDB database, or if the manifest does not
    ///   name it; `damaged` if it cannot be read.
    public static func inspect(
        _ path: String, _ body: (String) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        try inspect(path, on: PosixFileSystem(), body)
    }

    static func inspect(
        _ path: String, on fileSystem: any FileSystem,
        _ body: (String) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        let (folder, name) = split(path)
        let file = FileName(name)
        let isRejects = if case .rejects = file { true } else { false }
        let database = isRejects ? folder + "/.." : folder
        let directory = try calling("opening the directory") { () throws(FileError) in
            try fileSystem.openDirectory(database, create: false, access: .ownerOnly)
        }
        guard let file, let manifest = try Manifest.read(in: directory) else {
            throw DatabaseError(
                .notFound,
                "not a file of a CozDB database; expected MANIFEST, *.wal, *.seg or rejects/*.rej",
                file: path)
        }
        switch file {
        case .backupMark, .incompleteMark, .logDraft: try body("backup file, nothing to show\n")
        case .repairMark: try body("mark of an unfinished repair, nothing to show\n")
        case .manifest, .manifestDraft: try body(describe(manifest))
        case .log(let number): try inspectLog(number, manifest, directory, path, body)
        case .segment(let number): try inspectSegment(number, manifest, directory, path, body)
        case .rejects(let number): try inspectRejects(number, manifest, directory, path, body)
        case .lock:
            try body(describe(AcknowledgedState.read(in: directory)))
        }
    }

    private static func split(_ path: String) -> (folder: String, name: String) {
        let names = path.parts(separatedBy: "/")
        let folder = names.dropLast().joined(separator: "/")
        return (names.count == 1 ? "." : folder.isEmpty ? "/" : folder, names[names.count - 1])
    }

    private static func unnamed(_ path: String) -> DatabaseError {
        DatabaseError(
            .notFound,
            "the manifest does not name this file, so its content is not part of the database",
            file: path)
    }

    private static func describe(_ lock: AcknowledgedState.Found) -> String {
        guard let state = lock.state else { return "lock, without an intact record\n" }
        var text = """
            lock, last taken by \(state.holder)
            last acknowledged: generation \(state.generation) of the manifest of database \
            \(String(state.databaseID, radix: 16))

            """
        if state.logNumber > 0 {
            text +=
                "last acknowledged: \(state.logSizeBytes) bytes of "
                + "\(FileName.log(state.logNumber).text)\n"
        }
        return text
    }

    /// Returns a name in quotes, with control characters escaped.
    private static func quoted(_ name: String) -> String { "\"\(ControlText.escaped(name))\"" }

    private static func describe(_ manifest: Manifest) -> String {
        var text = """
            manifest, generation \(manifest.generation), database \
            \(String(manifest.databaseID, radix: 16))
            next file number \(manifest.nextFileNumber), commits in segments \
            \(manifest.lastSequence)

            """
        for preset in manifest.schemas.presets {
            text += "preset \(quoted(preset.name)), \(preset.fields.count) declarations\n"
        }
        for schema in manifest.schemas.all {
            text += "experiment \(schema.id) \(quoted(schema.name)), "
            text += "identity \(ControlText.escaped("\(schema.identity)")), "
            text += "types \(schema.typeRule), preset \(ControlText.escaped(schema.preset))\n"
            for column in schema.columns {
                let name = column.isRemoved ? "removed" : quoted(column.name)
                text += "  \(column.kind) \(column.id) \(name) \(column.type.name)\n"
            }
            for field in schema.declarations {
                text += "  declared \(quoted(field.name)) \(field.type.name)\n"
            }
        }
        if !manifest.forgotten.isEmpty {
            text += "forgotten participants \(manifest.forgotten.count)\n"
        }
        for info in manifest.segments {
            text += "segment \(FileName.segment(info.number).text) experiment \(info.experiment), "
            text += "\(info.rowCount) rows, \(info.valueCount) values, \(info.sizeBytes) bytes, "
            text += "\(Timestamp(nanoseconds: info.firstTime)) to "
            text += "\(Timestamp(nanoseconds: info.lastTime))\n"
        }
        for log in manifest.logs {
            text += "log \(FileName.log(log.number).text) from commit \(log.firstSequence), "
            text += log.sealedSizeBytes.map { "sealed at \($0) bytes\n" } ?? "open\n"
        }
        for info in manifest.rejects {
            text += "rejects \(FileName.rejects(info.number).text), \(info.entryCount) entries\n"
        }
        return text
    }

    private static func inspectLog(
        _ number: UInt64, _ manifest: Manifest, _ directory: any Directory, _ path: String,
        _ body: (String) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        guard let log = manifest.logs.first(where: { $0.number == number }) else {
            throw unnamed(path)
        }
        let file = try calling("opening the log") { () throws(FileError) in
            try directory.open(FileName.log(number).text, writable: false)
        }
        let identity = LogIdentity(
            databaseID: manifest.databaseID, number: number, firstSequence: log.firstSequence)
        var reader = try LogReader(file, expecting: identity, sealedSizeBytes: log.sealedSizeBytes)
        try body("write-ahead log \(number), from commit \(log.firstSequence)\n")
        var offset = reader.validSizeBytes
        while let frame = try reader.next() {
            let sizes = frame.commits.map { "\($0.count)" }.joined(separator: ", ")
            try body(
                "\(offset)  commits \(frame.firstSequence) to "
                    + "\(frame.firstSequence + UInt64(frame.commits.count) - 1), bytes \(sizes)\n")
            offset = reader.validSizeBytes
        }
        let torn = reader.tornBytes
        try body("\(offset)  end, \(torn > 0 ? "torn(discardedBytes: \(torn))" : "clean")\n")
    }

    private static func inspectSegment(
        _ number: UInt64, _ manifest: Manifest, _ directory: any Directory, _ path: String,
        _ body: (String) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        guard let info = manifest.segments.first(where: { $0.number == number }) else {
            throw unnamed(path)
        }
        let segment = try SegmentReader(in: directory, info, databaseID: manifest.databaseID)
        let footer = segment.footer
        try body(
            """
            segment \(number), experiment \(footer.experiment) \(quoted(footer.experimentName))
            \(footer.seriesCount) series, \(footer.rowCount) rows, \
            \(try segment.timeBlocks().count) blocks of times, \
            \(footer.groups.count) presence vectors
            \(try describeSizes(of: segment))

            """)
        try segment.forEachSeries { _ in }
        for (index, field) in footer.fields.enumerated() {
            let directory = try segment.directory(index)
            var text = "\(field.column.kind) \(field.column.id) \(quoted(field.column.name)) "
            text += "\(field.column.type.name), \(field.valueCount) values, presence \(field.group)"
            if field.dictionaryCount > 0 {
                text +=
                    ", dictionary \(field.dictionaryCount) in \(field.dictionary.sizeBytes) bytes"
            }
            try body(text + "\n")
            for block in 0..<directory.count {
                let handle = directory.handle(block)
                let summary = directory.summary(block, type: field.column.type)
                let code = directory.encoding(block)
                try body(
                    "  \(handle.offset)  \(handle.sizeBytes) bytes, \(summary.count) values, "
                        + "\(SegmentFormat.encodingName(code)), rows from "
                        + "\(directory.firstRow(block)), "
                        + "\(Timestamp(nanoseconds: summary.firstTime)) to "
                        + "\(Timestamp(nanoseconds: summary.lastTime))\n")
            }
        }
    }

    /// Returns how many bytes of a segment each kind of data takes.
    private static func describeSizes(
        of segment: SegmentReader
    ) throws(DatabaseError) -> String {
        let footer = segment.footer
        func total(_ table: BlockTable) -> Int {
            (0..<table.count).reduce(0) { $0 + table.sizeBytes($1) }
        }
        var values = 0
        var directories = footer.timeDirectory.sizeBytes + footer.smallDirectories.sizeBytes
        var dictionaries = 0
        for (index, field) in footer.fields.enumerated() {
            values += total(try segment.directory(index))
            directories += field.directory.sizeBytes
            dictionaries += field.dictionary.sizeBytes
        }
        let series = try segment.seriesParts().reduce(footer.seriesDirectory.sizeBytes) {
            // Cannot trap on overflow: sizes are checked against the file only when parts are read.
            $0 &+ $1.handle.sizeBytes
        }
        return """
            bytes: \(values) values, \(total(try segment.timeBlocks())) times, \
            \(footer.groups.reduce(0) { $0 + $1.sizeBytes }) presence, \
            \(directories) directories, \(dictionaries) dictionaries, \(series) series, \
            \(segment.footerRange.count) footer
            """
    }

    private static func inspectRejects(
        _ number: UInt64, _ manifest: Manifest, _ directory: any Directory, _ path: String,
        _ body: (String) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        guard let info = manifest.rejects.first(where: { $0.number == number }) else {
            throw unnamed(path)
        }
        let entries = try RejectsFile.read(info, under: directory, databaseID: manifest.databaseID)
        try body("rejects \(number), \(entries.count) entries\n")
        for entry in entries {
            switch entry {
            case .refusal(let refusal):
                let text = "\(refusal.source):\(refusal.line)  \(refusal.reason)"
                try body(ControlText.escaped(text) + "\n")
            case .mark(let id, let state):
                try body("entry \(String(id, radix: 16)) is \(state.rawValue)\n")
            case .repeated(let id, let count, let line, _):
                try body(
                    "entry \(String(id, radix: 16)) repeated \(count) more times, last at line "
                        + "\(line)\n")
            case .dropped(let count): try body("\(count) refusals not kept\n")
            }
        }
    }
}
