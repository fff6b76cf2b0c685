// An input format of JSON objects, one object per row: one per line, or in arrays.

internal import CozDB

struct ObjectReader: PointReader {
    private let box: Box

    /// A class, because decoders cannot be copied and readers can.
    private final class Box {
        var decoder: ObjectDecoder

        init(_ options: ImportOptions) { decoder = ObjectDecoder(options) }
    }

    init(_ options: ImportOptions) { box = Box(options) }

    mutating func begin(_ file: InputFile) { box.decoder.begin() }

    mutating func read(
        _ file: InputFile, into batch: inout WriteBatch, limits: BatchLimits
    ) throws(DatabaseError) -> Bool {
        try box.decoder.read(file, into: &batch, limits)
    }
}

private struct ObjectDecoder: ~Copyable {
    private var input = JSONInput()
    private var rows: ObjectRows
    private var row = ObjectRow()
    private var guess = 0

    init(_ options: ImportOptions) { rows = ObjectRows(options) }

    mutating func begin() { input.begin() }

    mutating func read(
        _ file: InputFile, into batch: inout WriteBatch, _ limits: BatchLimits
    ) throws(DatabaseError) -> Bool {
        rows.forgetNumbers()
        let start = file.decodedBytes
        var points = 0
        while points < limits.points, file.decodedBytes - start < limits.sizeBytes {
            let token = try input.next(from: file)
            switch token {
            case .end: return true
            case .arrayStart, .arrayEnd: continue
            case .objectStart: if try readObject(file, &batch) { points += 1 }
            case .invalid:
                try recover(file, &batch)
                points += 1
            default:
                let place = input.place(of: input.scanner.start)
                rows.refuse(
                    input.scanner.text.copy(input.scanner.contents), place,
                    "found a value outside of an object, expected one object per row", nil, &batch)
                points += 1
            }
        }
        return false
    }

    /// Reads the rest of an object whose opening brace was the last token.
    ///
    /// - Returns: whether it is a point, stored or refused.
    private mutating func readObject(
        _ file: InputFile, _ batch: inout WriteBatch
    ) throws(DatabaseError) -> Bool {
        let place = input.place(of: input.scanner.start)
        input.keep(from: input.scanner.start)
        row.removeAll()
        guess = 0
        guard try readMembers(.flat, file) else {
            try recover(file, &batch)
            return true
        }
        defer { input.release() }
        rows.keepNames(&row)
        switch try rows.add(row, line: place.line, to: &batch) {
        case .point: return true
        case .empty: return false
        case .refused(let reason):
            let end = Swift.min(input.scanner.index, input.keptStart + Refusal.lineSizeBytesMax)
            let owner = rows.participant(of: row)
            rows.refuse(
                input.scanner.text.copy(input.keptStart..<end), place, reason, owner, &batch)
            return true
        }
    }

    /// Reads members until the object ends; false if the JSON is invalid.
    private mutating func readMembers(
        _ place: ObjectSection, _ file: InputFile
    ) throws(DatabaseError) -> Bool {
        while true {
            let name = try input.next(from: file)
            if name != .key { return name == .objectEnd }
            let inner = place == .flat ? innerSection : nil
            let column = rows.columns.column(
                input.scanner, in: place, guess: guess, experiment: nil)
            guess = column + 1
            let token = try input.next(from: file)
            switch token {
            case .invalid: return false
            case .objectStart:
                if let inner {
                    guard try readMembers(inner, file) else { return false }
                } else {
                    guard try input.skipNested(from: file) else { return false }
                    add(token, column)
                }
            case .arrayStart:
                guard try input.skipNested(from: file) else { return false }
                add(token, column)
            default: add(token, column)
            }
        }
    }

    private mutating func add(_ token: JSONToken, _ column: Int) {
        if rows.columns.all[column].role == .ignored { return }
        row.add(token, input.scanner, column: column, rows.columns.all[column].name)
    }

    /// The meaning of an object whose key was the last token; nil if unknown.
    private var innerSection: ObjectSection? {
        if input.scanner.contentsEqual("fields") { return .fields }
        if input.scanner.contentsEqual("fields_int") { return .integerFields }
        return input.scanner.contentsEqual("tags") ? .tags : nil
    }

    private mutating func recover(
        _ file: InputFile, _ batch: inout WriteBatch
    ) throws(DatabaseError) {
        let reason = input.scanner.problem.message(in: input.scanner.text)
        let place = input.place(of: input.scanner.problem.index)
        let passed = try input.recover(from: file, sizeBytesMax: Refusal.lineSizeBytesMax)
        rows.refuse(passed, place, reason, nil, &batch)
    }
}
