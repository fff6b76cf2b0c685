// The blocks that a segment consists of, and their roles.

/// The role of a block of a segment.
enum SegmentPart: Hashable, Sendable {
    case timeDirectory
    case seriesDirectory
    case smallDirectories
    case presence(group: Int)
    case fieldDirectory(field: Int)
    case dictionary(field: Int)
    /// A block of the series table.
    case series(block: Int)
    case times(block: Int)
    case values(field: Int, block: Int)
}

extension SegmentReader {
    /// The blocks that the footer names, except for empty ones.
    var footerParts: [(handle: BlockHandle, part: SegmentPart)] {
        var parts: [(handle: BlockHandle, part: SegmentPart)] = [
            (footer.timeDirectory, .timeDirectory), (footer.seriesDirectory, .seriesDirectory),
            (footer.smallDirectories, .smallDirectories),
        ]
        for (index, group) in footer.groups.enumerated() {
            parts.append((group, .presence(group: index)))
        }
        for (index, field) in footer.fields.enumerated() {
            parts.append((field.directory, .fieldDirectory(field: index)))
            parts.append((field.dictionary, .dictionary(field: index)))
        }
        return parts.filter { $0.handle.sizeBytes > 0 }
    }

    /// The blocks of the series table.
    func seriesParts() throws(DatabaseError) -> [(handle: BlockHandle, part: SegmentPart)] {
        guard footer.seriesCount > 0 else { return [] }
        let directory = try seriesDirectory()
        return (0..<directory.count).map {
            (SeriesColumn.handle(directory, $0), .series(block: $0))
        }
    }

    /// The blocks of times.
    func timeParts() throws(DatabaseError) -> [(handle: BlockHandle, part: SegmentPart)] {
        let table = try timeBlocks()
        return (0..<table.count).map { (table.handle($0), .times(block: $0)) }
    }

    /// The blocks of values of a field.
    func valueParts(
        ofField field: Int
    ) throws(DatabaseError) -> [(handle: BlockHandle, part: SegmentPart)] {
        let table = try directory(field)
        return (0..<table.count).map { (table.handle($0), .values(field: field, block: $0)) }
    }

    /// The role of the block at a handle, if the readable directories name it.
    func part(at handle: BlockHandle) -> SegmentPart? {
        func find(_ parts: [(handle: BlockHandle, part: SegmentPart)]) -> SegmentPart? {
            parts.first { $0.handle == handle }?.part
        }
        if let known = find(footerParts) { return known }
        // An unreadable directory names no block.
        if let parts = try? seriesParts(), let known = find(parts) { return known }
        if let parts = try? timeParts(), let known = find(parts) { return known }
        for field in footer.fields.indices {
            if let parts = try? valueParts(ofField: field), let known = find(parts) {
                return known
            }
        }
        return nil
    }
}
