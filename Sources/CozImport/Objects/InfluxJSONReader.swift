// An input format of InfluxDB 1.x query results: {"results":[{"series":[{"name", "tags", "columns",
// "values"}]}]}, any number of documents, pretty-printed or not.

internal import CozDB

struct InfluxJSONReader: PointReader {
    private let box: Box

    /// A class, because decoders cannot be copied and readers can.
    private final class Box {
        var decoder: InfluxJSONDecoder

        init(_ options: ImportOptions) { decoder = InfluxJSONDecoder(options) }
    }

    init(_ options: ImportOptions) throws(DatabaseError) {
        guard options.experiment == nil else {
            throw DatabaseError(
                .usage,
                "influx-json takes the experiment from the name of each series, but an experiment "
                    + "was given; leave it out", remedy: .change([.experiment]))
        }
        box = Box(options)
    }

    mutating func begin(_ file: InputFile) { box.decoder.begin() }

    mutating func read(
        _ file: InputFile, into batch: inout WriteBatch, limits: BatchLimits
    ) throws(DatabaseError) -> Bool {
        try box.decoder.read(file, into: &batch, limits)
    }
}

private struct InfluxJSONDecoder: ~Copyable {
    /// An open object or array around the current token.
    private enum Frame {
        case document, results, result, seriesList, series, values
        /// Any other object or array; ignored.
        case other
    }

    private var input = JSONInput()
    private var rows: ObjectRows
    private var row = ObjectRow()
    private var frames: [Frame] = []
    private var key = ""
    private var name: [UInt8] = []
    private var tags: [(name: String, value: String)] = []
    private let skippedTags: Set<[UInt8]>
    private let participantColumn: String?
    private var columnNames: [[UInt8]] = []
    /// The columns of the names, once the name and the tags of the series are known.
    private var columns: [Int] = []
    private var hasValues = false
    /// The series up to its rows, made for the first refused one.
    private var head: [UInt8]?
    /// The size of all heads in the batch.
    private var headsSizeBytes = 0
    /// The series' list of rows and what it is in.
    private var rowsNesting = JSONScanner.Nesting()
    private var hasFailed = false

    init(_ options: ImportOptions) {
        rows = ObjectRows(options)
        skippedTags = Set(options.table.ignoredColumns.map { Array($0.utf8) })
        participantColumn = options.table.participantColumn
    }

    mutating func begin() {
        input.begin()
        frames = []
        hasFailed = false
    }

    mutating func read(
        _ file: InputFile, into batch: inout WriteBatch, _ limits: BatchLimits
    ) throws(DatabaseError) -> Bool {
        rows.forgetNumbers()
        headsSizeBytes = 0
        let start = file.decodedBytes
        var points = 0
        while points < limits.points,
            file.decodedBytes - start + headsSizeBytes < limits.sizeBytes
        {
            if hasFailed { return true }
            let token = try input.next(from: file)
            switch token {
            case .end: return true
            case .invalid:
                try recover(file, &batch)
                points += 1
            case .arrayStart where frames.last == .values:
                if try readRow(file, &batch) { points += 1 }
            case .arrayEnd where frames.last == .values: frames.removeLast()
            case _ where frames.last == .values:
                try refuseValue(token, file, &batch)
                points += 1
            case .objectStart, .arrayStart: try open(token, file)
            case .objectEnd, .arrayEnd: if !frames.isEmpty { frames.removeLast() }
            case .key: key = input.scanner.string
            case .string: try take(input.scanner.string, file)
            default: try checkKind(token, file)
            }
        }
        return false
    }

    // MARK: Structure

    private mutating func open(_ token: JSONToken, _ file: InputFile) throws(DatabaseError) {
        let isObject = token == .objectStart
        try checkKind(token, file)
        switch (frames.last, isObject, key) {
        case (nil, true, _): frames.append(.document)
        case (.document, false, "results"): frames.append(.results)
        case (.results, true, _): frames.append(.result)
        case (.result, false, "series"): frames.append(.seriesList)
        case (.seriesList, true, _):
            frames.append(.series)
            (name, tags, columnNames, columns, hasValues) = ([], [], [], [], false)
        case (.series, true, "tags"): try readTags(file)
        case (.series, false, "columns"): try readColumns(file)
        case (.series, false, "values"):
            frames.append(.values)
            try beginRows(file)
        default: frames.append(.other)
        }
    }

    /// - Throws: `usage` if the last token begins a value of a kind that InfluxDB does not write
    ///   there, so that no data vanishes with it.
    private mutating func checkKind(_ token: JSONToken, _ file: InputFile) throws(DatabaseError) {
        if frames.last == .series, hasValues, ["name", "tags", "columns"].contains(key) {
            throw unexpected("found \"\(key)\" after \"values\"", file)
        }
        let expected: JSONToken
        switch (frames.last, key) {
        case (.document, "results"), (.result, "series"), (.series, "columns"),
            (.series, "values"):
            expected = .arrayStart
        case (.series, "tags"): expected = .objectStart
        case (.series, "name"): expected = .string
        case (.document, _), (.result, _), (.series, _):
            // Such as the rows of a misspelled "values".
            guard token == .arrayStart || token == .objectStart, key != "messages" else { return }
            throw unexpected("found the member \"\(key)\"", file)
        default: return
        }
        guard token != expected, token != .null || key == "results" else { return }
        let kind =
            expected == .arrayStart ? "an array" : expected == .string ? "a string" : "an object"
        throw unexpected("\"\(key)\" is not \(kind)", file)
    }

    private mutating func unexpected(_ found: String, _ file: InputFile) -> DatabaseError {
        DatabaseError(
            .usage,
            "line \(input.place(of: input.scanner.start).line): \(found), expected a query result "
                + "of InfluxDB: {\"results\":[{\"series\":[...]}]}",
            file: file.name)
    }

    private mutating func take(_ text: String, _ file: InputFile) throws(DatabaseError) {
        try checkKind(.string, file)
        if key == "error", frames.last == .document || frames.last == .result {
            let line = input.place(of: input.scanner.start).line
            throw DatabaseError(
                .usage,
                "line \(line): found the error message of a failed query, expected data: \(text)",
                file: file.name)
        }
        if key == "name", frames.last == .series { name = Array(text.utf8) }
    }

    private mutating func readTags(_ file: InputFile) throws(DatabaseError) {
        while try input.next(from: file) == .key {
            let tag = input.scanner.string
            let token = try input.next(from: file)
            if token == .invalid { return }
            guard token == .string else { throw unexpected("tag \"\(tag)\" is not a string", file) }
            // The group of rows without the tag has an empty one.
            let value = input.scanner.string
            if value.isEmpty || skippedTags.contains(Array(tag.utf8)) { continue }
            tags.append((tag, value))
        }
    }

    private mutating func readColumns(_ file: InputFile) throws(DatabaseError) {
        while true {
            let token = try input.next(from: file)
            if token == .arrayEnd || token == .invalid { return }
            guard token == .string else { throw unexpected("a column is not a string", file) }
            var column: [UInt8] = []
            input.scanner.appendContents(to: &column)
            columnNames.append(column)
        }
    }

    /// - Throws: `usage` if the series is not the result of SELECT.
    private mutating func beginRows(_ file: InputFile) throws(DatabaseError) {
        let line = input.place(of: input.scanner.start).line
        let title = String(decoding: name, as: UTF8.self)
        guard !columnNames.isEmpty else {
            throw DatabaseError(
                .usage,
                "line \(line): series \"\(title)\" has \"values\" before \"columns\", expected "
                    + "InfluxDB's order: name, tags, columns, values",
                file: file.name)
        }
        guard !name.isEmpty else {
            throw unexpected("found a series without a name", file)
        }
        hasValues = true
        columns = columnNames.map { rows.columns.column($0, experiment: name) }
        guard columns.contains(where: { rows.columns.all[$0].role == .time }) else {
            throw DatabaseError(
                .usage,
                "line \(line): series \"\(title)\" has no column \"time\"; only results of SELECT "
                    + "can be imported",
                file: file.name)
        }
        var seen: Set<Int> = []
        if let twin = columns.first(where: { !seen.insert($0).inserted }) {
            let column = String(decoding: rows.columns.all[twin].name, as: UTF8.self)
            throw DatabaseError(
                .usage,
                "line \(line): series \"\(title)\" has two columns named \"\(column)\", expected "
                    + "unique names; rename one with AS in the query",
                file: file.name)
        }
        rowsNesting = input.scanner.nesting
        head = nil
        rows.series = series
    }

    /// The series with what is known of it so far.
    private var series: ObjectRows.Series {
        let participantTag = String(decoding: rows.lookup.participantTag(of: name), as: UTF8.self)
        return ObjectRows.Series(
            experiment: name,
            tags: tags.map { tag in
                let isParticipant = participantColumn?.utf8.elementsEqual(tag.name.utf8) == true
                return isParticipant ? (participantTag, tag.value) : tag
            })
    }

    // MARK: Rows

    /// Reads the rest of a row whose opening bracket was the last token.
    ///
    /// - Returns: whether it is a point, stored or refused.
    private mutating func readRow(
        _ file: InputFile, _ batch: inout WriteBatch
    ) throws(DatabaseError) -> Bool {
        let place = input.place(of: input.scanner.start)
        input.keep(from: input.scanner.start)
        row.removeAll()
        var count = 0
        while true {
            let token = try input.next(from: file)
            if token == .arrayEnd { break }
            if token == .invalid || token == .end {
                try recover(file, &batch)
                return true
            }
            if token == .arrayStart, count == 0 || count >= columns.count {
                // A bracket too many would make all further rows a part of this one.
                let expected = count == 0 ? "a time" : "the end of the row"
                let reason = "found an array, expected \(expected)"
                try recover(file, &batch, (reason, input.scanner.start))
                return true
            }
            if count < columns.count {
                let column = columns[count]
                row.add(
                    token, input.scanner, column: column, rows.columns.all[column].name)
            }
            if token == .objectStart || token == .arrayStart, try !input.skipNested(from: file) {
                try recover(file, &batch)
                return true
            }
            count += 1
        }
        defer { input.release() }
        guard count == columns.count else {
            refuse(place, "\(count) values, expected \(columns.count) (one per column)", &batch)
            return true
        }
        rows.keepNames(&row)
        switch try rows.add(row, line: place.line, to: &batch) {
        case .point: return true
        case .empty: return false
        case .refused(let reason):
            refuse(place, reason, &batch)
            return true
        }
    }

    /// A longer beginning of a series is not repeated with each refused row.
    private static let headSizeBytesMax = 16 << 10

    /// Refuses the retained row. It is kept as a document with one row, because the row alone says
    /// neither its experiment nor its columns.
    private mutating func refuse(
        _ place: JSONPlace, _ reason: String, _ batch: inout WriteBatch
    ) {
        let tail = Array("]}]}]}".utf8)
        let head = seriesHead()
        let range = input.keptStart..<input.scanner.index
        let isWhole = head.count + range.count + tail.count <= Refusal.lineSizeBytesMax
        let kept = input.scanner.text.copy(range.prefix(Refusal.lineSizeBytesMax))
        let text =
            isWhole && head.count <= InfluxJSONDecoder.headSizeBytesMax
            ? head + kept + tail : kept
        headsSizeBytes += text.count - kept.count
        let owner = rows.participant(of: row)
        rows.refuse(text, place, reason, owner, &batch)
    }

    private mutating func seriesHead() -> [UInt8] {
        if let head { return head }
        let columns = columnNames.map { ItemText.quoted(String(decoding: $0, as: UTF8.self)) }
        var text = "{\"results\":[{\"series\":[{\"name\":"
        text += ItemText.quoted(String(decoding: name, as: UTF8.self))
        if !tags.isEmpty {
            let pairs = tags.map { ItemText.quoted($0.name) + ":" + ItemText.quoted($0.value) }
            text += ",\"tags\":{" + pairs.joined(separator: ",") + "}"
        }
        text += ",\"columns\":[" + columns.joined(separator: ",") + "],\"values\":["
        head = Array(text.utf8)
        return Array(text.utf8)
    }

    /// Refuses a value that stands in place of a row.
    private mutating func refuseValue(
        _ token: JSONToken, _ file: InputFile, _ batch: inout WriteBatch
    ) throws(DatabaseError) {
        let place = input.place(of: input.scanner.start)
        input.keep(from: input.scanner.start)
        row.removeAll()
        defer { input.release() }
        if token == .objectStart, try !input.skipNested(from: file) {
            return try recover(file, &batch)
        }
        refuse(place, "found another value than an array, expected one array per row", &batch)
    }

    /// Refuses invalid JSON and goes on at the next row of the series. If that cannot be told,
    /// because the structure of the rest is unknown, refuses the rest of the file and keeps its
    /// first bytes.
    ///
    /// - Parameter fault: the reason and its index; nil after `invalid`.
    private mutating func recover(
        _ file: InputFile, _ batch: inout WriteBatch, _ fault: (reason: String, index: Int)? = nil
    ) throws(DatabaseError) {
        let text = input.scanner.text
        let index = fault?.index ?? input.scanner.problem.index
        let place = input.place(of: index)
        var reason = fault?.reason ?? input.scanner.problem.message(in: text)
        let kept: [UInt8]
        if frames.last == .values {
            let (passed, isFound) = try input.recoverRow(
                from: file, at: index, in: rowsNesting, sizeBytesMax: Refusal.lineSizeBytesMax)
            (kept, hasFailed) = (passed, !isFound)
        } else {
            kept = try input.rest(
                of: file, from: index, sizeBytesMax: Refusal.lineSizeBytesMax)
            hasFailed = true
        }
        if hasFailed { reason += "; the rest of the file was not read" }
        // Before its rows, the series is not that of the rows yet.
        if frames.last != .values, frames.contains(.series) { rows.series = series }
        let owner = frames.contains(.series) ? rows.participant(in: name) : nil
        rows.refuse(kept, place, reason, owner, &batch)
    }
}
