// Interprets a header row: finds the role of each column from options, from the database, and from
// common names.

internal import CozDB

struct TableHeader {
    let kind: TableKind
    let options: ImportOptions
    let lookup: SchemaLookup
    let file: String

    static let timeNames = [
        "time", "_time", "timestamp", "datetime", "index_time", "index",
    ]
    static let experimentNames = [
        "_measurement", "measurement", "experiment", "id_experiment",
    ]
    /// Columns of Flux results that are not part of a point.
    static let fluxColumns = ["", "result", "table", "_start", "_stop"]

    private var table: TableOptions { options.table }

    /// The tag that identifies participants.
    var participantTag: [UInt8] {
        lookup.participantTag(of: options.experiment.map { Array($0.utf8) })
    }

    /// Returns the layout of a table whose header contains only names.
    ///
    /// - Throws: `usage`, with what to do, if a requested column does not exist or no column is the
    ///   time or the experiment.
    func layout(
        _ names: [[UInt8]], line: Int, constants: [TableColumn] = []
    ) throws(DatabaseError) -> TableLayout {
        var layout = TableLayout(
            columns: names.map { TableColumn(name: $0) }, constants: constants, line: line)
        for index in names.indices {
            if table.hasDecimalComma { layout.columns[index].notation = .decimalComma }
            TableHeader.applyShorthand(&layout.columns[index])
        }
        func hasAll(_ labels: String...) -> Bool {
            Set(labels.map { Array($0.utf8) }).isSubset(of: names)
        }
        let isUnpivoted = hasAll("_field", "_value", "_time")
        if isUnpivoted || hasAll("_time", "_measurement") || hasAll("_time", "_start", "_stop") {
            markFlux(&layout, isUnpivoted: isUnpivoted)
        }
        if kind == .influxShell { markShell(&layout) }
        try markNamed(&layout)
        markTime(&layout)
        markExperiment(&layout)
        markTags(&layout, isFlux: isUnpivoted)
        let experiment = experiment(layout)
        for (index, column) in layout.columns.enumerated()
        where column.role == .field && TableOptions.isRowNumber(column.name)
            && !lookup.isField(column.name, in: experiment)
        {
            layout.columns[index].role = .ignored
        }
        applyTypes(&layout)
        try check(layout)
        return layout
    }

    // MARK: Roles

    /// Applies `name|datatype|default`, which `influx write` accepts in headers.
    private static func applyShorthand(_ column: inout TableColumn) {
        guard let bar = column.name.firstIndex(of: UInt8(ascii: "|")), bar > 0 else { return }
        var marked = column
        marked.name = Array(column.name[..<bar])
        let datatype = column.name[(bar + 1)...]
        guard (try? Datatype.apply(datatype: Array(datatype), to: &marked)) == true else {
            return
        }
        column = marked
    }

    /// Sets the roles of columns that options name. An annotated file has many tables, so not each
    /// has the columns to skip and the tags.
    func markNamed(_ layout: inout TableLayout) throws(DatabaseError) {
        guard table.namesColumns else { return }
        markNamedConstants(&layout)
        let places = ColumnPlaces(layout)
        let namesFields = layout.index(of: .fieldName) != nil
        let constants = Set(layout.constants.map(\.name))
        for (names, set, setting, role) in [
            (
                table.ignoredColumns, lookup.named.skipped, Remedy.Setting.skippedColumns,
                TableColumn.Role.ignored
            ),
            (table.tagColumns, lookup.named.tags, .tagColumns, .tag),
        ] {
            if !layout.isAnnotated, role == .tag || !namesFields {
                for name in names where !constants.contains(Array(name.utf8)) {
                    _ = try indexes(of: name, setting, layout, places)
                }
            }
            for index in layout.columns.indices where set.contains(layout.columns[index].name) {
                layout.columns[index].role = role
            }
        }
        // The rows of Flux results name the fields.
        if kind == .plain, options.hasOneFile, layout.index(of: .fieldName) == nil {
            for (name, _) in table.columnTypes {
                _ = try indexes(of: name, .columnTypes, layout, places)
            }
        }
        if let name = table.experimentColumn {
            let index = try indexes(of: name, .experimentColumn, layout, places)[0]
            if let other = layout.index(of: .experiment), kind == .plain {
                layout.columns[other].role = .field
            }
            layout.columns[index].role = .experiment
        }
        if let name = table.participantColumn {
            let index = try indexes(of: name, .participantColumn, layout, places)[0]
            layout.columns[index].role = .tag
            layout.columns[index].name = participantTag
            layout.columns[index].isParticipant = true
        }
        if let name = table.timeColumn {
            // Look up the current names: the participant column has been renamed.
            let index = try indexes(of: name, .timeColumn, layout, ColumnPlaces(layout))[0]
            TableHeader.keepTimesAsText(&layout)
            layout.columns[index].role = .time
            layout.columns[index].type = nil
        }
        if let name = table.timeOfDayColumn {
            let index = try indexes(of: name, .timeOfDayColumn, layout, places)[0]
            layout.columns[index].role = .ignored
            layout.timeOfDay = index
        }
    }

    /// Sets the roles of `#constant` lines that options name.
    private func markNamedConstants(_ layout: inout TableLayout) {
        for index in layout.constants.indices {
            let constant = layout.constants[index]
            guard constant.role == .tag || constant.role == .field else { continue }
            if lookup.named.skipped.contains(constant.name) {
                layout.constants[index].role = .ignored
            } else if lookup.named.tags.contains(constant.name) {
                layout.constants[index].role = .tag
            }
        }
    }

    private func indexes(
        of name: String, _ setting: Remedy.Setting, _ layout: TableLayout, _ places: ColumnPlaces
    ) throws(DatabaseError) -> [Int] {
        let found = places.indexes(of: name)
        if !found.isEmpty { return found }
        let role =
            switch setting {
            case .skippedColumns: "a column to skip"
            case .tagColumns: "a tag column"
            case .columnTypes: "a column with a type"
            case .experimentColumn: "the experiment column"
            case .participantColumn: "the participant column"
            case .timeOfDayColumn: "the column with the time of day"
            default: "the time column"
            }
        throw DatabaseError(
            .usage,
            "line \(layout.line): found no column \"\(name)\", which was given as \(role); the "
                + "columns are " + TableHeader.list(layout),
            file: file, remedy: .change([setting]))
    }

    /// Makes the time columns that a table declares fields, but one.
    static func keepTimesAsText(_ layout: inout TableLayout, except kept: Int? = nil) {
        for index in layout.columns.indices
        where index != kept && layout.columns[index].role == .time {
            layout.columns[index].role = .field
            layout.columns[index].type = .string
        }
    }

    private func markTime(_ layout: inout TableLayout) {
        if let first = layout.index(of: .time) {
            return TableHeader.keepTimesAsText(&layout, except: first)
        }
        if layout.constants.contains(where: { $0.role == .time }) { return }
        for name in TableHeader.timeNames {
            for (index, column) in layout.columns.enumerated()
            where column.role == .field && column.type == nil && isEqual(column.name, name) {
                layout.columns[index].role = .time
                return
            }
        }
    }

    /// Ignores the case of ASCII letters.
    private func isEqual(_ name: [UInt8], _ other: String) -> Bool {
        name.count == other.utf8.count
            && zip(name, other.utf8).allSatisfy { left, right in
                left == right || left | 0x20 == right && left &- 0x41 < 26
            }
    }

    private func markExperiment(_ layout: inout TableLayout) {
        let all = layout.columns + layout.constants
        if options.experiment != nil || all.contains(where: { $0.role == .experiment }) { return }
        for name in TableHeader.experimentNames {
            let found = layout.columns.firstIndex {
                $0.role == .field && $0.type == nil && $0.name.elementsEqual(name.utf8)
            }
            if let found {
                layout.columns[found].role = .experiment
                return
            }
        }
    }

    /// The experiment of all rows; nil if a column may name another one.
    private func experiment(_ layout: TableLayout) -> [UInt8]? {
        layout.index(of: .experiment) == nil ? options.experiment.map { Array($0.utf8) } : nil
    }

    private func markTags(_ layout: inout TableLayout, isFlux: Bool) {
        let experiment = experiment(layout)
        let names = layout.names
        for (index, column) in layout.columns.enumerated()
        where column.role == .field && column.type == nil {
            if isFlux {
                if !column.name.isEmpty { layout.columns[index].role = .tag }
            } else {
                mark(&layout.columns[index], in: experiment, beside: names)
            }
        }
    }

    /// - Parameter experiment: that of all rows; nil if it is unknown.
    private func mark(
        _ column: inout TableColumn, in experiment: [UInt8]?, beside names: Set<[UInt8]>
    ) {
        func isTag(_ others: Set<[UInt8]>) -> Bool {
            lookup.isTagOfAll(column.name, beside: others)
                || experiment.map { lookup.isTag(column.name, in: $0, beside: others) } == true
        }
        // A renamed column beside one of the new name keeps its own only in rows that have both.
        let (isTagKept, isTagRenamed) = (isTag(names), isTag([]))
        let mayBeTag = experiment == nil && lookup.mayBeTag(column.name, beside: [])
        if isTagKept && isTagRenamed {
            if !column.name.isEmpty { column.role = .tag }
        } else {
            column.mayBeTag = isTagKept || isTagRenamed || mayBeTag
        }
    }

    /// Marks texts of a Flux result that are tags elsewhere: a result has its tags in `#group` only
    /// if it is grouped by them.
    func markFluxAnswer(_ layout: inout TableLayout) {
        // An option may have named one of them as the time.
        for (index, column) in layout.columns.enumerated()
        where column.role == .field && TableHeader.isFluxColumn(column) {
            layout.columns[index].role = .ignored
        }
        let experiment = experiment(layout)
        let names = layout.names
        for (index, column) in layout.columns.enumerated()
        where column.role == .field && column.type ?? .string == .string {
            mark(&layout.columns[index], in: experiment, beside: names)
        }
    }

    private static func isFluxColumn(_ column: TableColumn) -> Bool {
        fluxColumns.contains { column.name.elementsEqual($0.utf8) }
    }

    /// Sets the roles of Flux results without annotations.
    ///
    /// - Parameter isUnpivoted: whether there is one field and value per row. All other columns are
    ///   tags then.
    private func markFlux(_ layout: inout TableLayout, isUnpivoted: Bool) {
        for (index, column) in layout.columns.enumerated() {
            if isUnpivoted, column.name.elementsEqual("_field".utf8) {
                layout.columns[index].role = .fieldName
            } else if isUnpivoted, column.name.elementsEqual("_value".utf8) {
                layout.columns[index].role = .fieldValue
            } else if column.name.elementsEqual("_measurement".utf8) {
                layout.columns[index].role = options.experiment == nil ? .experiment : .ignored
            } else if TableHeader.isFluxColumn(column) {
                layout.columns[index].role = .ignored
            }
        }
    }

    /// `influx` prints the experiment first. Second come the tags of GROUP BY, in one cell.
    private func markShell(_ layout: inout TableLayout) {
        layout.columns[0].role = .experiment
        if layout.columns.count > 1, layout.columns[1].name.elementsEqual("tags".utf8) {
            layout.columns[1].role = .tagList
        }
    }

    /// Applies the types that options name. They override types declared in the table.
    func applyTypes(_ layout: inout TableLayout) {
        let types = lookup.named.types
        if types.isEmpty { return }
        for index in layout.constants.indices {
            guard let type = types[layout.constants[index].name] else { continue }
            layout.constants[index].type = type
        }
        for index in layout.columns.indices where layout.columns[index].role != .time {
            guard let type = types[layout.columns[index].name] else { continue }
            layout.columns[index].type = type
            layout.columns[index].notation = layout.columns[index].notation.of(type)
        }
    }

    // MARK: Checks

    /// - Throws: `usage` for a table that cannot be converted to points.
    func check(_ layout: TableLayout) throws(DatabaseError) {
        func fail(_ problem: Problem) throws(DatabaseError) -> Never {
            throw DatabaseError(
                .usage, "line \(layout.line): \(problem.text)", file: file, remedy: problem.remedy)
        }
        let all = layout.columns + layout.constants
        if let problem = missingColumn(all, experiment(layout)) {
            try fail(
                Problem(
                    text: "\(problem.text). The columns are \(TableHeader.list(layout))",
                    remedy: problem.remedy))
        }
        if let problem = doubledRole(layout) { try fail(problem) }
        // The columns so far by name, tags apart from fields.
        var tags: [[UInt8]: Int] = [:]
        var fieldNames: [[UInt8]: Int] = [:]
        for (index, column) in layout.columns.enumerated()
        where column.role == .field || column.role == .tag {
            if column.role == .field, column.name.elementsEqual("time".utf8) {
                try fail(
                    Problem(
                        text: "column \(index + 1) is a field named \"time\", which is reserved; "
                            + "make it the time column, or skip it",
                        remedy: .change([.timeColumn, .skippedColumns])))
            }
            let constant = layout.constants.contains {
                $0.role == column.role && $0.name == column.name
            }
            if constant {
                try fail(
                    Problem(
                        text: "column \(index + 1) has the name of a #constant, "
                            + "\"\(column.title)\"; remove one of them"))
            }
            let twin =
                column.role == .tag
                ? tags.updateValue(index, forKey: column.name)
                : fieldNames.updateValue(index, forKey: column.name)
            if let twin {
                try fail(
                    Problem(
                        text: "columns \(twin + 1) and \(index + 1) have the same name "
                            + "\"\(column.title)\"; rename one of them, or skip both",
                        remedy: .change([.skippedColumns])))
            }
            guard (1...DatabaseOptions.nameSizeBytesMax).contains(column.name.count) else {
                try fail(
                    Problem(
                        text: "the name of column \(index + 1) has \(column.name.count) bytes, "
                            + "expected 1 to \(DatabaseOptions.nameSizeBytesMax)"))
            }
            if String(validating: column.name, as: UTF8.self) == nil {
                try fail(
                    Problem(
                        text: "the name of column \(index + 1) is not UTF-8; convert the file, for "
                            + "example with iconv -f windows-1252 -t utf-8"))
            }
        }
    }

    /// Why a table cannot be converted.
    private struct Problem {
        var text: String
        var remedy: Remedy?
    }

    /// Returns an error if two columns have a role that only one can have; nil if there is none.
    private func doubledRole(_ layout: TableLayout) -> Problem? {
        for (index, constant) in layout.constants.enumerated() {
            let isNamed = constant.role == .tag || constant.role == .field
            let isTwice = layout.constants[..<index].contains {
                $0.role == constant.role && (!isNamed || $0.name == constant.name)
            }
            if isTwice, constant.role != .ignored {
                let name = isNamed ? " \"\(constant.title)\"" : ""
                return Problem(
                    text: "found two #constant lines for one \(constant.role)\(name), expected "
                        + "one")
            }
        }
        for role in [TableColumn.Role.experiment, .fieldName, .fieldValue] {
            let places = layout.columns.indices.filter { layout.columns[$0].role == role }
            guard places.count > 1 else { continue }
            let name =
                role == .experiment
                ? "experiment" : role == .fieldName ? "name of the field" : "value of the field"
            return Problem(
                text: "columns \(places[0] + 1) and \(places[1] + 1) are both the \(name); skip "
                    + "one of them",
                remedy: .change([.skippedColumns]))
        }
        return nil
    }

    /// Returns an error if no column has a role that points need; nil if all roles are filled.
    private func missingColumn(_ columns: [TableColumn], _ experiment: [UInt8]?) -> Problem? {
        if !columns.contains(where: { $0.role == .time }), options.now == nil {
            return Problem(
                text: "found no time column, expected one of time, _time, timestamp, datetime, "
                    + "index_time and index; name the time column, or give all rows one time",
                remedy: .change([.timeColumn, .now]))
        }
        if !columns.contains(where: { $0.role == .experiment }), options.experiment == nil {
            return Problem(
                text: "found no experiment column, expected one of measurement, _measurement, "
                    + "experiment and id_experiment; name the experiment, or its column",
                remedy: .change([.experiment, .experimentColumn]))
        }
        // A table whose only fields are skipped stores nothing; those after it may store more.
        if !columns.contains(where: {
            $0.role == .field || $0.role == .fieldValue || lookup.named.skipped.contains($0.name)
        }) {
            return Problem(text: "found no field column, expected at least one")
        }
        return missingIdentity(columns, experiment)
    }

    /// Returns an error if every row would be refused because no column is a tag of the identity;
    /// nil if there is such a column or the identity is unknown.
    private func missingIdentity(_ columns: [TableColumn], _ experiment: [UInt8]?) -> Problem? {
        if columns.contains(where: { $0.role == .tagList }) { return nil }
        let schema = experiment.flatMap { lookup.schema(of: $0) }
        guard
            let identity = options.settings.identity ?? schema?.identity
                ?? (options.schemas.isEmpty || experiment != nil ? .standard : nil)
        else { return nil }
        let participantTag = lookup.participantTag(of: experiment)
        let tags = columns.filter { $0.role == .tag || $0.mayBeTag }.map(\.title)
        func isMissing(_ name: String) -> Bool {
            let isGiven = options.participant != nil && participantTag.elementsEqual(name.utf8)
            return !isGiven && !options.stored.areStored(tags, as: name)
        }
        switch identity {
        case .allTags: return nil
        case .participant(let tag):
            guard isMissing(tag) else { return nil }
            return Problem(
                text: "found no participant column (\(tag)); name it, or give all rows one "
                    + "participant; data without participants needs all tags as the identity",
                remedy: .change([.participantColumn, .participant, .identity]))
        case .tags(let names):
            guard let name = names.first(where: isMissing) else { return nil }
            return Problem(
                text: "found no column \"\(name)\" with a tag of the identity; name the tag "
                    + "columns, or choose another identity",
                remedy: .change([.tagColumns, .identity]))
        }
    }

    /// Lists the names of the first columns for a message.
    static func list(_ layout: TableLayout) -> String {
        let titles = layout.columns.map(\.title).filter { !$0.isEmpty }
        let shown = titles.prefix(12).map { $0.count > 40 ? "\($0.prefix(40))..." : $0 }
        let rest = titles.count > 12 ? " and \(titles.count - 12) more" : ""
        return shown.joined(separator: ", ") + rest
    }
}

/// The indices of each name in a header; names are compared byte by byte.
private struct ColumnPlaces {
    private var places: [[UInt8]: [Int]] = [:]

    init(_ layout: TableLayout) {
        for (index, column) in layout.columns.enumerated() {
            places[column.name, default: []].append(index)
        }
    }

    func indexes(of name: String) -> [Int] { places[Array(name.utf8)] ?? [] }
}
