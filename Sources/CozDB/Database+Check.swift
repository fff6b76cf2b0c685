// Reading every byte of a database and naming what cannot be read. Takes no lock, changes nothing.

extension Database {
    /// Reads and decodes everything the manifest names.
    ///
    /// Runs beside a writer: where the manifest is replaced meanwhile, the check begins anew.
    /// Cost: reads every byte once.
    ///
    /// - Throws: `notFound` where there is no database; damage is told to `body`, not thrown.
    public static func check(
        _ path: String, options: DatabaseOptions = DatabaseOptions(),
        _ body: (CheckFinding) -> Void
    ) throws(DatabaseError) -> CheckSummary {
        try check(path, on: PosixFileSystem(), options: options, body)
    }

    /// The same on any file system.
    static func check(
        _ path: String, on fileSystem: any FileSystem, options: DatabaseOptions = DatabaseOptions(),
        _ body: (CheckFinding) -> Void
    ) throws(DatabaseError) -> CheckSummary {
        let directory = try calling("opening the database") { () throws(FileError) in
            try fileSystem.openDirectory(path, create: false, access: options.fileAccess)
        }
        let attempts = 100
        for attempt in 1... {
            var check = DatabaseCheck(directory)
            let generation = check.run()
            let now = (try? Manifest.read(in: directory))?.generation
            if check.summary.damaged > 0, now != generation, attempt < attempts { continue }
            if check.isMissing {
                throw DatabaseError(
                    .notFound, "not a CozDB database: it has no file \(FileName.manifest.text)",
                    file: path)
            }
            for finding in check.findings { body(finding) }
            return check.summary
        }
        return CheckSummary()
    }
}

/// One pass over all files.
private struct DatabaseCheck {
    private(set) var findings: [CheckFinding] = []
    private(set) var summary = CheckSummary()
    /// Whether there is no manifest at all.
    private(set) var isMissing = false
    private let directory: any Directory

    init(_ directory: any Directory) {
        self.directory = directory
    }

    /// The generation of the manifest that was checked; nil where it cannot be read.
    mutating func run() -> UInt64? {
        do throws(DatabaseError) {
            guard let manifest = try Manifest.read(in: directory) else {
                let names = (try? directory.list()) ?? []
                isMissing = !names.contains { FileName($0) != nil }
                if !isMissing {
                    add(
                        .damage, FileName.manifest.text, nil, "the manifest is missing",
                        "everything")
                }
                return nil
            }
            count(FileName.manifest.text)
            checkSegments(manifest)
            checkLogs(manifest)
            checkRejects(manifest)
            checkNames(manifest)
            return manifest.generation
        } catch {
            add(.damage, FileName.manifest.text, error.offset, error.message, "everything")
            return nil
        }
    }

    private mutating func add(
        _ severity: CheckFinding.Severity, _ file: String, _ offset: Int?, _ found: String,
        _ lost: String
    ) {
        if severity == .damage { summary.damaged += 1 }
        findings.append(
            CheckFinding(severity: severity, file: file, offset: offset, found: found, lost: lost))
    }

    private mutating func count(_ name: String, in folder: (any Directory)? = nil) {
        summary.files += 1
        let file = try? (folder ?? directory).open(name, writable: false)
        summary.bytes += (try? file?.size()) ?? 0
    }

    private mutating func checkSegments(_ manifest: Manifest) {
        for info in manifest.segments {
            let name = FileName.segment(info.number).text
            count(name)
            do throws(DatabaseError) {
                let reader = try SegmentReader(in: directory, info, databaseID: manifest.databaseID)
                var check = SegmentCheck(reader)
                check.run()
                summary.blocks += check.blockCount
                for problem in check.problems {
                    add(.damage, name, problem.offset, problem.found, problem.lost)
                }
            } catch {
                let experiment = manifest.schemas[info.experiment]?.name ?? "\(info.experiment)"
                let first = Timestamp(nanoseconds: info.firstTime)
                let last = Timestamp(nanoseconds: info.lastTime)
                add(
                    .damage, name, error.offset, error.message,
                    "experiment \"\(experiment)\", \(info.rowCount) rows, \(first) to \(last)")
            }
        }
    }

    private mutating func checkLogs(_ manifest: Manifest) {
        for log in manifest.logs {
            let name = FileName.log(log.number).text
            count(name)
            var one = manifest
            one.logs = [log]
            do throws(DatabaseError) {
                let replay = try LogReplay(one, in: directory)
                let first = max(log.firstSequence, 1) - 1
                summary.records += Int(replay.lastSequence - min(first, replay.lastSequence))
                if replay.tornBytes > 0 {
                    add(
                        .note, name, nil,
                        "an unfinished commit at the end; the next writer cuts it off",
                        "nothing that was acknowledged")
                }
            } catch {
                add(
                    .damage, name, error.offset, error.message,
                    "commits of this log from that place on")
            }
        }
    }

    private mutating func checkRejects(_ manifest: Manifest) {
        for info in manifest.rejects {
            let name = FileName.rejects(info.number).text
            let folder = try? directory.openDirectory(FileName.rejectsDirectory, create: false)
            count(name, in: folder)
            do throws(DatabaseError) {
                let entries = try RejectsFile.read(
                    info, under: directory, databaseID: manifest.databaseID)
                summary.records += entries.count
            } catch {
                add(
                    .damage, FileName.rejectsDirectory + "/" + name, error.offset, error.message,
                    "\(info.entryCount) entries of the rejects journal")
            }
        }
    }

    private mutating func checkNames(_ manifest: Manifest) {
        let segments = Set(manifest.segments.map(\.number))
        let logs = Set(manifest.logs.map(\.number))
        for name in (try? directory.list()) ?? [] where name != FileName.rejectsDirectory {
            switch FileName(name) {
            case .segment(let number) where !segments.contains(number),
                .log(let number) where !logs.contains(number):
                add(
                    .note, name, nil,
                    "a file that the manifest does not name; the next writer "
                        + "removes it", "nothing")
            case nil:
                add(.note, name, nil, "not a file of the database", "nothing")
            default: break
            }
        }
    }
}
