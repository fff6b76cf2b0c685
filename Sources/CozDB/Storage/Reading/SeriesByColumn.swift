// Finds the series that have a column from the blocks of the column, without checking each pair of
// series and column. With many of both, few pairs have values.

/// Some series of a view, indexed by the places of their rows.
struct SeriesByColumn {
    /// The most series in one batch: each may need a list of all columns.
    static let seriesCountMax = 1024

    private struct Place {
        var rows: Range<Int>
        /// Index among the series.
        var series: Int
    }

    private let view: ExperimentView
    private let series: [Series]
    /// For each source, by ascending rows.
    private var places: [[Place]]

    /// - Parameter series: in the order of their keys.
    init(_ view: ExperimentView, _ series: [Series]) {
        self.view = view
        self.series = series
        places = view.sources.map { _ in [] }
        for (index, one) in series.enumerated() {
            for part in one.parts {
                places[part.source].append(Place(rows: part.rows, series: index))
            }
        }
        for source in places.indices {
            places[source].sort { $0.rows.lowerBound < $1.rows.lowerBound }
        }
    }

    /// The indices of the series that may have a value in a column, ascending.
    func indices(_ column: Column) throws(DatabaseError) -> [Int] {
        var found: [Int] = []
        for (number, source) in view.sources.enumerated() {
            let own = places[number][...]
            switch source {
            case .segment(let segment):
                guard let field = segment.field(column.id) else { continue }
                var reader = try SegmentColumnReader(segment, field: field)
                let directory = reader.directory
                for block in 0..<directory.count {
                    let near = SeriesByColumn.overlapping(directory.rows(ofBlock: block), own)
                    guard near.count > directory.valueCount(block) else {
                        found += near.map(\.series)
                        continue
                    }
                    // The block has fewer values than series, so its rows identify the series
                    // exactly.
                    for row in try reader.rows(block: block) {
                        let place = near.partitioningIndex { $0.rows.upperBound > Int(row) }
                        if place < near.endIndex { found.append(near[place].series) }
                    }
                }
            case .memtable(let memtable):
                guard let index = memtable.columns(column.kind) else {
                    found += own.map(\.series)
                    continue
                }
                var next = own.startIndex
                index.forEachPlace(of: column.id, in: 0..<memtable.rows.count) { place, _ in
                    let rest = own[next...]
                    next = rest.partitioningIndex { $0.rows.upperBound > place }
                    guard next < own.endIndex, own[next].rows.contains(place) else { return }
                    found.append(own[next].series)
                    next += 1
                }
            }
        }
        return Set(found).sorted()
    }

    /// The places that overlap these rows.
    private static func overlapping(
        _ rows: Range<Int>, _ places: ArraySlice<Place>
    ) -> ArraySlice<Place> {
        let start = places.partitioningIndex { $0.rows.upperBound > rows.lowerBound }
        let end = places.partitioningIndex { $0.rows.lowerBound >= rows.upperBound }
        return places[start..<max(start, end)]
    }
}

extension ExperimentView {
    /// The number of columns from which series are looked up by column. With fewer, each series is
    /// checked.
    static let wideColumnCountMin = 1000

    /// Calls the body for each series, by ascending key, with the fields that it may have, by
    /// ascending name.
    func forEachSeries(
        in range: TimeRange = .all, where accepts: ((SeriesKey) -> Bool)? = nil,
        withFields body: (Series, [Column]) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        let fields = schema.fields
        guard fields.count >= ExperimentView.wideColumnCountMin else {
            return try forEachSeries(in: range, where: accepts) { series throws(DatabaseError) in
                var own: [Column] = []
                for field in fields where try mayHave(field.id, series) { own.append(field) }
                try body(series, own)
            }
        }
        func visit(_ waiting: inout [Series]) throws(DatabaseError) {
            for (series, own) in zip(waiting, try positions(of: fields, in: waiting)) {
                try body(series, own.map { fields[$0] })
            }
            waiting.removeAll(keepingCapacity: true)
        }
        var waiting: [Series] = []
        try forEachSeries(in: range, where: accepts) { series throws(DatabaseError) in
            waiting.append(series)
            if waiting.count == SeriesByColumn.seriesCountMax { try visit(&waiting) }
        }
        try visit(&waiting)
    }

    /// For each series, the positions of the columns that it may have, ascending.
    ///
    /// - Parameter series: in the order of their keys.
    func positions(
        of columns: [Column?], in series: [Series]
    ) throws(DatabaseError) -> [[Int]] {
        let byColumn = SeriesByColumn(self, series)
        var positions = [[Int]](repeating: [], count: series.count)
        for (position, column) in columns.enumerated() {
            guard let column else { continue }
            try CancellationCheck.check()
            for index in try byColumn.indices(column) { positions[index].append(position) }
        }
        return positions
    }
}
