// The annotations of annotated CSV: lines above a header that define its columns.
//
// Source: InfluxDB 2 documentation, "Annotated CSV" and "Extended annotated CSV"; for cases that it
// leaves open, the behavior of `influx write` (influxdata/influxdb, pkg/csv2lp).

internal import CozDB

/// The annotations of one table, collected until its header.
struct TableAnnotations {
    enum Word: String, CaseIterable {
        case group, datatype, defaults = "default", constant, timezone

        /// Parses the first cell of an annotation row. Returns the annotation and the text after
        /// its name, which may belong to the first column; nil if there is no known annotation.
        static func read(_ cell: [UInt8]) -> (word: Word, rest: [UInt8])? {
            guard cell.first == UInt8(ascii: "#") else { return nil }
            let name = cell.dropFirst().prefix { $0 != space }
            let lower = String(decoding: name, as: UTF8.self).lowercased()
            guard let word = Word(rawValue: lower) else { return nil }
            return (word, Array(cell.dropFirst(1 + name.count).drop { $0 == space }))
        }
    }

    /// The maximum number of `#constant` lines of a table. Each adds a value to every row, so many
    /// would make a large import of a small file.
    private static let constantCountMax = 256

    private var groups: [[UInt8]] = []
    private var datatypes: [[UInt8]] = []
    private var defaults: [[UInt8]] = []
    private var constants: [TableColumn] = []
    private var zone: TimeZoneRules?
    private(set) var isEmpty = true

    /// Adds an annotation row.
    ///
    /// - Parameter cells: the cells of the row; the first one without the annotation's name.
    /// - Throws: a reason, for unknown datatypes and time zones.
    mutating func add(_ word: Word, _ cells: [[UInt8]]) throws(TableProblem) {
        isEmpty = false
        switch word {
        case .group: groups = cells
        case .datatype:
            for (index, cell) in cells.enumerated() {
                var probe = TableColumn(name: [])
                if try !Datatype.apply(datatype: cell, to: &probe) {
                    let name = String(decoding: cell, as: UTF8.self)
                    throw TableProblem(
                        "column \(index + 1): unknown datatype \"\(name)\"; expected measurement, "
                            + "tag, field, dateTime, double, long, unsignedLong, boolean, string, "
                            + "duration, base64Binary or ignored")
                }
            }
            datatypes = cells
        case .defaults: defaults = cells
        case .constant: try addConstant(cells)
        case .timezone:
            let name = cells.first { !$0.isEmpty } ?? []
            zone = try Datatype.zone(String(decoding: name, as: UTF8.self))
        }
    }

    /// Adds a row `#constant,datatype,label,value`; for measurements and times also
    /// `#constant,measurement,value`.
    private mutating func addConstant(_ cells: [[UInt8]]) throws(TableProblem) {
        let cells = Array(cells.drop { $0.isEmpty })
        var column = TableColumn(name: cells.count > 1 ? cells[1] : [])
        guard let datatype = cells.first,
            try Datatype.apply(datatype: datatype, to: &column)
        else { throw TableProblem("expected #constant,DATATYPE,LABEL,VALUE") }
        let value = cells.count > 2 ? cells[2] : []
        if !value.isEmpty { column.defaultValue = value }
        if column.role == .experiment || column.role == .time, column.defaultValue.isEmpty {
            column.defaultValue = column.name
        }
        constants.append(column)
        guard constants.count <= TableAnnotations.constantCountMax else {
            throw TableProblem(
                "found more than \(TableAnnotations.constantCountMax) #constant lines for one "
                    + "table; write the values into columns")
        }
    }

    /// Returns the layout of the table whose header follows.
    ///
    /// - Parameter names: the complete cells of the header.
    func layout(
        _ names: [[UInt8]], line: Int, header: TableHeader
    ) throws(DatabaseError) -> TableLayout {
        var layout = TableLayout(columns: [], constants: constants, line: line)
        layout.zone = zone
        layout.isAnnotated = true
        if datatypes.isEmpty && groups.isEmpty {
            layout.columns = try header.layout(names, line: line, constants: constants).columns
        } else {
            layout.columns = names.indices.map { column(names[$0], $0) }
            let isFlux = resolveRoles(&layout)
            try header.markNamed(&layout)
            if isFlux { header.markFluxAnswer(&layout) }
        }
        for (index, cell) in defaults.enumerated()
        where index < layout.columns.count && !cell.isEmpty {
            layout.columns[index].defaultValue = cell
        }
        header.applyTypes(&layout)
        try header.check(layout)
        return layout
    }

    private func column(_ name: [UInt8], _ index: Int) -> TableColumn {
        var column = TableColumn(name: name)
        column.role = .ignored
        let datatype = index < datatypes.count ? datatypes[index] : []
        let isGroup = index < groups.count && groups[index].elementsEqual("true".utf8)
        // `add` has checked the datatypes.
        _ = try? Datatype.apply(datatype: datatype, to: &column)
        if isGroup && (column.role == .field || column.role == .ignored) { column.role = .tag }
        return column
    }

    /// Applies the meaning of Flux labels, which begin with `_`, regardless of their type. If a
    /// datatype declares the measurement, as Flux results never do, such labels are ordinary
    /// names of tags and fields.
    ///
    /// - Returns: Whether it is a result of Flux, which need not say what its tags are.
    private func resolveRoles(_ layout: inout TableLayout) -> Bool {
        let isExtended = (layout.columns + layout.constants).contains { $0.role == .experiment }
        func index(_ label: String) -> Int? {
            if isExtended { return nil }
            return layout.columns.firstIndex { $0.name.elementsEqual(label.utf8) }
        }
        let isUnpivoted = index("_field") != nil && index("_value") != nil
        let measurement = index("_measurement")
        let isFlux = index("_time") != nil || measurement != nil || isUnpivoted
        // A Flux result without `_time` ends at its last time, `_stop`.
        let times = layout.columns.indices.filter {
            layout.columns[$0].role == .time && layout.columns[$0].name != []
        }
        let named = times.first { time in
            ["time", "_time"].contains { layout.columns[time].name.elementsEqual($0.utf8) }
        }
        let time =
            index("_time") ?? named ?? (isExtended ? times.first : times.last)
            ?? layout.index(of: .time)
        for place in layout.columns.indices {
            let column = layout.columns[place]
            let isIgnored =
                column.name.isEmpty && column.role != .experiment && column.role != .time
                || isFlux && TableHeader.fluxColumns.contains { column.name.elementsEqual($0.utf8) }
            if place == time {
                layout.columns[place].role = .time
            } else if isIgnored {
                layout.columns[place].role = .ignored
            } else if place == measurement {
                layout.columns[place].role = .experiment
            } else if isUnpivoted, column.name.elementsEqual("_field".utf8) {
                layout.columns[place].role = .fieldName
            } else if isUnpivoted, column.name.elementsEqual("_value".utf8) {
                layout.columns[place].role = .fieldValue
            } else if column.role == .time {
                // Another time column is stored as text.
                layout.columns[place].role = .field
                layout.columns[place].type = .string
            } else if isUnpivoted, column.role == .field, column.type ?? .string == .string {
                // A tag that no group key has, or an answer without `#group`.
                layout.columns[place].role = .tag
            }
        }
        return isFlux && !isExtended
    }
}
