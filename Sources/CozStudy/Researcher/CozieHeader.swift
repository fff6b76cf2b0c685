// The header of the researcher API's CSV and the role of each column.

internal import CozDB
internal import CozImport

enum CozieColumnRole: Equatable {
    /// A row number, or an unnamed column added by pandas.
    case ignored
    case time
    case tag
    case field
}

struct CozieHeader {
    private(set) var names: [[UInt8]] = []
    private(set) var roles: [CozieColumnRole] = []
    private(set) var timeColumn = 0

    static func begins(_ head: [UInt8]) -> Bool {
        var head = head[...]
        if head.starts(with: "\u{FEFF}".utf8) { head = head.dropFirst(3) }
        return [",index,", ",index\n", ",index\r", ",level_0,"].contains {
            head.starts(with: $0.utf8)
        }
    }

    /// - Throws: `usage` for a header that does not fit this format.
    init(_ row: CSVRow, _ block: borrowing CSVBlock, file: String) throws(DatabaseError) {
        func problem(_ text: String) -> DatabaseError {
            DatabaseError(.usage, "line \(row.line): \(text)", file: file)
        }
        if let fault = block.fault(of: row) { throw problem(fault.reason) }
        if block.hasBareCarriageReturn(row) { throw problem(CSVBlock.bareCarriageReturnMessage) }
        if let place = block.bytes.firstInvalidUTF8(in: row.text) {
            throw problem("column \(place - row.text.lowerBound + 1): invalid UTF-8 in the header")
        }
        names = row.cells.map { block.bytes.copy(block.cells[$0].range) }
        let time = try timeColumn(problem)
        timeColumn = time
        roles = names.indices.map { $0 == time ? .time : CozieHeader.role(names[$0]) }
        var seen: Set<[UInt8]> = []
        for (name, role) in zip(names, roles) where role == .field || role == .tag {
            let text = String(decoding: name, as: UTF8.self)
            guard seen.insert(name).inserted else {
                throw problem("found the column \"\(text)\" twice, expected each name once")
            }
            guard name.count <= DatabaseOptions.nameSizeBytesMax else {
                throw problem(
                    "found a column name of \(name.count) bytes, expected at most "
                        + "\(DatabaseOptions.nameSizeBytesMax)")
            }
        }
    }

    /// Returns the index of the time column. pandas names it `index`, or `level_0` if there is a
    /// field `index`.
    private func timeColumn(
        _ problem: (String) -> DatabaseError
    ) throws(DatabaseError) -> Int {
        if names.count > 1, names[0].isEmpty, names[1].elementsEqual("level_0".utf8) { return 1 }
        if let index = names.firstIndex(where: { $0.elementsEqual("index".utf8) }) { return index }
        let found = names.prefix(4).map { "\"\(String(decoding: $0, as: UTF8.self))\"" }
        var error = problem(
            "found a header that begins with \(found.joined(separator: ", ")), expected a column "
                + "\"index\" with the times, as in files of the researcher API; import other "
                + "tables in the format csv")
        error.remedy = .change([.format])
        throw error
    }

    private static func role(_ name: [UInt8]) -> CozieColumnRole {
        if TableOptions.isRowNumber(name) { return .ignored }
        let isTag = ResearcherRequest.tags.contains { name.elementsEqual($0.utf8) }
        return isTag ? .tag : .field
    }
}
