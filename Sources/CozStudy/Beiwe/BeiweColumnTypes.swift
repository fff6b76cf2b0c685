// Chooses the type of each column. The field type or declaration in the database comes first, then
// the table of streams, then the contents of the column in the first file that has it.

internal import CozDB
internal import CozImport

/// The column types, shared by all files of an import.
struct BeiweColumnTypes {
    private struct Key: Hashable {
        var stream: Name
        var field: Name
    }

    private let imports: ImportOptions
    private let stored: [Name: ExperimentSchema]
    private var decided: [Key: TimedColumn.Kind] = [:]

    init(_ imports: ImportOptions) {
        self.imports = imports
        stored = Dictionary(imports.schemas.map { (Name($0.name), $0) }) { first, _ in first }
    }

    /// - Parameter file: read a second time if a column has no known type.
    mutating func kinds(
        of header: BeiweHeader, in stream: String, _ file: InputFile
    ) throws(DatabaseError) -> [TimedColumn.Kind] {
        let names = takenNames(header)
        var kinds = header.names.map { kind(of: $0, in: stream, beside: names) }
        let unknown = kinds.indices.filter { kinds[$0] == nil }
        if !unknown.isEmpty && file.isReopenable {
            let seen = try BeiweColumnTypes.kinds(ofColumns: unknown, file)
            for (index, kind) in zip(unknown, seen) {
                guard let kind else { continue }
                kinds[index] = kind
                let field = field(of: header.names[index], beside: names)
                decided[Key(stream: Name(stream), field: Name(field))] = kind
            }
        }
        return kinds.map { $0 ?? .text }
    }

    /// Returns the kinds of renamed columns in rows in which they get their new names; nil for
    /// those that always do.
    ///
    /// - Parameter kinds: of all columns, in rows in which they keep their names.
    mutating func renamedKinds(
        of header: BeiweHeader, in stream: String, _ kinds: [TimedColumn.Kind]
    ) -> [TimedColumn.Kind?] {
        let taken = takenNames(header)
        var places: [Name: Int] = [:]
        for (index, name) in header.names.enumerated() { places[Name(name)] = index }
        return zip(header.names, kinds).map { name, kept -> TimedColumn.Kind? in
            let newName = Name(imports.storedName(of: name))
            guard newName != Name(name), taken.contains(newName) else { return nil }
            if let known = kind(of: name, in: stream, beside: []) { return known }
            let shown =
                places[newName].flatMap { kind(of: header.names[$0], in: stream, beside: taken) }
                ?? kind(of: name, in: stream, beside: taken)
            if let shown { decided[Key(stream: Name(stream), field: newName)] = shown }
            return shown ?? kept
        }
    }

    /// The names of the columns, and those that several columns get.
    private func takenNames(_ header: BeiweHeader) -> Set<Name> {
        var names = Set(header.names.map { Name($0) })
        var newNames: Set<Name> = []
        for name in header.names {
            let newName = Name(imports.storedName(of: name))
            if !newNames.insert(newName).inserted { names.insert(newName) }
        }
        return names
    }

    /// Returns the type of a renamed column, which the preset of the stream does not know.
    func askedType(of name: String, in stream: String) -> FieldType? {
        if imports.storedName(of: name) == name { return nil }
        return tableType(of: name, in: stream)
    }

    private func tableType(of name: String, in stream: String) -> FieldType? {
        BeiweStream.named(stream)?.columns.first { $0.name.utf8.elementsEqual(name.utf8) }?.type
    }

    /// - Parameter others: the names of other columns, which a renamed one does not get.
    private func kind(
        of name: String, in stream: String, beside others: Set<Name>
    ) -> TimedColumn.Kind? {
        if name == BeiweHeader.time { return .milliseconds }
        if name == BeiweHeader.moment { return .moment }
        if name == BeiweHeader.survey { return .text }
        let field = field(of: name, beside: others)
        let type =
            stored[Name(stream)]?.field(field)?.type
            ?? stored[Name(stream)]?.declaration(of: field)?.type
            ?? tableType(of: name, in: stream)
        switch type {
        case .float: return .float
        case .integer: return .integer
        case .string, .boolean: return .text
        case nil: return decided[Key(stream: Name(stream), field: Name(field))]
        }
    }

    /// The name under which a column is stored.
    private func field(of name: String, beside others: Set<Name>) -> String {
        let newName = imports.storedName(of: name)
        return others.contains(Name(newName)) ? name : newName
    }

    /// Returns `.float` for columns that hold only numbers, `.text` for others, and nil for empty
    /// ones.
    private static func kinds(
        ofColumns columns: [Int], _ file: InputFile
    ) throws(DatabaseError) -> [TimedColumn.Kind?] {
        let copy = try InputFile(path: file.name)
        let tokenizer = CSVTokenizer(dialect: CSVDialect(hasQuotes: false))
        var kinds = [TimedColumn.Kind?](repeating: nil, count: columns.count)
        var headerCount: Int?
        while true {
            let next: CSVBlock?
            do throws(DatabaseError) {
                next = try tokenizer.nextBlock(of: copy)
            } catch {
                // The rows before the break are stored; reading them meets the error again.
                guard error.kind == .damaged else { throw error }
                return kinds
            }
            guard let block = next else { return kinds }
            for row in block.rows {
                guard let count = headerCount else {
                    headerCount = row.cells.count
                    continue
                }
                if row.cells.count != count { continue }
                for (number, column) in columns.enumerated() where kinds[number] != .text {
                    let cell = block.cells[row.cells.lowerBound + column].range
                    if cell.isEmpty { continue }
                    let found = NumberParsing.scan(block.bytes, at: cell.lowerBound)
                    let isNumber = found.kind == .float && found.end == cell.upperBound
                    kinds[number] = isNumber ? .float : .text
                }
            }
        }
    }
}
