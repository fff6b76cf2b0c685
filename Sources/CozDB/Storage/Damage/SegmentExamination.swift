// Determines what can be read of one segment and what is damaged.

/// The result of reading every byte of a segment.
struct SegmentExamination: Sendable {
    /// nil if no part of it can be read.
    private(set) var reader: SegmentReader?
    private(set) var problems: [SegmentCheck.Problem] = []
    private(set) var damage = SegmentDamage()
    private(set) var blockCount = 0
    private(set) var sizeBytes = 0
    /// Whether the file exists.
    private(set) var isThere = true

    /// - Parameter decodes: whether times and values are decoded too.
    /// - Throws: `io` if the system refuses to read the file.
    init(
        _ info: Manifest.Segment, of manifest: Manifest, in directory: any Directory,
        decodes: Bool
    ) throws(DatabaseError) {
        let databaseID = manifest.databaseID
        let file: any File
        do throws(FileError) {
            file = try directory.open(FileName.segment(info.number).text, writable: false)
            sizeBytes = try file.size()
        } catch {
            guard error.isNotFound else {
                throw DatabaseError(error, while: "opening a segment")
            }
            isThere = false
            let missing = DatabaseError(error, while: "opening a segment").asDamageIfMissing
            add(missing.offset, missing.message, lost: manifest.lost(info))
            return
        }
        do throws(DatabaseError) {
            let opened = try SegmentReader(
                in: directory, info, databaseID: databaseID, access: .copied)
            try opened.check(manifest)
            reader = opened
        } catch {
            if error.isSystemCallFailure || error.kind == .notFound {
                throw error
            }
            let found = LossText(message: error.message).found
            let recovered = try RecoveredSegment.open(info, in: directory, databaseID: databaseID)
            if let recovered, (try? recovered.check(manifest)) != nil { reader = recovered }
            // Queries cannot read the segment either way.
            add(error.offset, found, lost: manifest.lost(info))
        }
        guard let reader else { return }
        var check = SegmentCheck(reader, file, databaseID: databaseID)
        try check.run(decodes: decodes)
        problems += check.problems
        damage = check.damage
        blockCount = check.blockCount
    }

    private mutating func add(_ offset: Int?, _ found: String, lost: String) {
        problems.append(
            SegmentCheck.Problem(offset: offset, text: LossText(found: found, lost: lost)))
    }
}
