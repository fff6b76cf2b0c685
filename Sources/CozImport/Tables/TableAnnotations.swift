// Annotated CSV: the lines above a header that say what its columns are.
//
// Source: InfluxDB 2 documentation, "Annotated CSV" and "Extended annotated CSV"; where that is
// silent, what `influx write` does (influxdata/influxdb, pkg/csv2lp).

internal import CozDB

/// The annotations of one table, collected until its header comes.
struct TableAnnotations {
    /// An annotation that is known.
    enum Word: String, CaseIterable {
        case group, datatype, defaults = "default", constant, timezone

        /// The annotation that a first cell names, and what stands behind its name: it may be the
        /// first column's. nil: none.
        static func read(_ cell: [UInt8]) -> (word: Word, rest: [UInt8])? {
            guard cell.first == UInt8(ascii: "#") else { return nil }
            let name = cell.dropFirst().prefix { $0 != space }
            let lower = String(decoding: name, as: UTF8.self).lowercased()
            guard let word = Word(rawValue: lower) else { return nil }
            return (word, Array(cell.dropFirst(1 + name.count).drop { $0 == space }))
        }
    }

    private var groups: [[UInt8]] = []
    private var datatypes: [[UInt8]] = []
    private var defaults: [[UInt8]] = []
    private var constants: [TableColumn] = []
    private var zone: TimeZoneRules?
    /// Whether there are any.
    private(set) var isEmpty = true

    /// Takes in an annotation row.
    ///
    /// - Parameter cells: of the row; of the first one what stands behind the annotation's name.
    /// - Throws: a reason, for datatypes and zones that are not known.
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

    /// `#constant,datatype,label,value`; `#constant,measurement,value` and the same for times.
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
    }

    /// The layout of the table whose header follows.
    ///
    /// - Parameter names: the cells of the header; of the first one nothing is cut off.
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
            resolveRoles(&layout)
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
        // Checked when the annotation came.
        _ = try? Datatype.apply(datatype: datatype, to: &column)
        if isGroup && (column.role == .field || column.role == .ignored) { column.role = .tag }
        return column
    }

    /// Labels that begin with `_` mean what Flux means by them, whatever their type; not where a
    /// datatype says which column is the measurement, as answers of Flux never do: there they are
    /// names of tags and fields as any other.
    private func resolveRoles(_ layout: inout TableLayout) {
        let isExtended = layout.index(of: .experiment) != nil
        func index(_ label: String) -> Int? {
            if isExtended { return nil }
            return layout.columns.firstIndex { $0.name.elementsEqual(label.utf8) }
        }
        let isUnpivoted = index("_field") != nil && index("_value") != nil
        let measurement = index("_measurement")
        let isFlux = index("_time") != nil || measurement != nil || isUnpivoted
        let time =
            index("_time") ?? layout.columns.lastIndex { $0.role == .time && $0.name != [] }
            ?? layout.index(of: .time)
        for place in layout.columns.indices {
            let column = layout.columns[place]
            let isIdle =
                column.name.isEmpty && column.role != .experiment && column.role != .time
                || isFlux && TableHeader.fluxColumns.contains { column.name.elementsEqual($0.utf8) }
            if place == time {
                layout.columns[place].role = .time
            } else if isIdle {
                layout.columns[place].role = .ignored
            } else if place == measurement {
                layout.columns[place].role = .experiment
            } else if isUnpivoted, column.name.elementsEqual("_field".utf8) {
                layout.columns[place].role = .fieldName
            } else if isUnpivoted, column.name.elementsEqual("_value".utf8) {
                layout.columns[place].role = .fieldValue
            } else if column.role == .time {
                // A second time is a text as any other.
                layout.columns[place].role = isUnpivoted ? .ignored : .field
                layout.columns[place].type = .string
            } else if isUnpivoted && column.role == .field {
                layout.columns[place].role = .ignored
            }
        }
    }
}
