// SELECT without aggregates: rows of one series are passed on; rows of several are merged by time.

extension Executor {
    func runRaw(
        _ plan: SelectPlan, _ group: InputGroup, into output: any SeriesOutput
    ) throws(DatabaseError) {
        var writer = RowWriter(plan, group.key, output)
        if let windows = WindowedRows(plan, group.inputs, writer.rowsWanted, counters) {
            try windows.run { times, references throws(DatabaseError) in
                try writer.write(times: times, references)
                return !writer.isFull
            }
            return try writer.finish()
        }
        var merge = RowMerge(
            plan, group.inputs, in: plan.range, rowsWanted: writer.rowsWanted, counters: counters)
        var block = Block()
        while !writer.isFull, try merge.next(into: &block) {
            try writer.write(times: block.times, block.references)
        }
        try writer.finish()
    }
}

/// A merge of the rows of several series by time; equal times are ordered by series.
struct RowMerge {
    /// A series with an open reader; released at its end.
    private final class OpenSeries {
        var reader: BlockReader
        var block = Block()
        var row = 0

        init(_ reader: BlockReader) {
            self.reader = reader
        }
    }

    private struct Head {
        /// The time of the next row. Before the series is opened, a bound that no row precedes.
        var time: Int64
        var open: OpenSeries?
    }

    private let plan: SelectPlan
    private let inputs: [InputSeries]
    private let range: TimeRange
    private let counters: ExecutionContext
    private var heads: [Head] = []
    /// A binary heap of indexes into `heads`; the series with the next row is first.
    private var heap: [Int] = []
    private let blockRows: Int

    init(
        _ plan: SelectPlan, _ inputs: [InputSeries], in range: TimeRange, rowsWanted: Int,
        counters: ExecutionContext
    ) {
        self.plan = plan
        self.inputs = inputs
        self.range = range
        self.counters = counters
        blockRows = min(BlockReader.rowCountMax(plan, counters), max(rowsWanted, 1))
        heads = inputs.map { Head(time: $0.nearestTime(range, ascending: plan.isAscending)) }
        heap = Array(heads.indices)
        for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { sink(index) }
    }

    mutating func next(into block: inout Block) throws(DatabaseError) -> Bool {
        guard let first = try openFirst() else { return false }
        if heap.count == 1 {
            // Blocks of the last remaining series pass through unchanged.
            let head = first.open
            block = head.row == 0 ? head.block : RowMerge.rest(head.block, from: head.row)
            try refill(first.index, head)
            return true
        }
        var times: [Int64] = []
        var builders = plan.references.map { VectorBuilder(type: $0.type) }
        while times.count < blockRows, let (top, head) = try openFirst() {
            times.append(heads[top].time)
            for index in builders.indices {
                builders[index].append(head.block.references[index], row: head.row)
            }
            head.row += 1
            if head.row == head.block.count {
                try refill(top, head)
            } else {
                heads[top].time = head.block.times[head.row]
                sink(0)
            }
        }
        block = Block(times: times, references: builders.map { $0.finished() })
        return true
    }

    /// Returns the series with the next row. Series are opened only here, so of a million series
    /// with one row each, only one is open at a time.
    private mutating func openFirst() throws(DatabaseError) -> (index: Int, open: OpenSeries)? {
        while let first = heap.first {
            if let open = heads[first].open { return (first, open) }
            let reader = BlockReader(
                plan, inputs[first], driving: plan.auxiliary, in: range,
                descending: !plan.isAscending, blockRows: blockRows, counters: counters)
            try refill(first, OpenSeries(reader))
        }
        return nil
    }

    /// Reads the next block of the first series in the heap.
    private mutating func refill(_ first: Int, _ open: OpenSeries) throws(DatabaseError) {
        open.row = 0
        if try open.reader.next(into: &open.block) {
            heads[first].open = open
            heads[first].time = open.block.times[0]
            sink(0)
            return
        }
        heads[first].open = nil
        let last = heap.removeLast()
        guard !heap.isEmpty else { return }
        heap[0] = last
        sink(0)
    }

    private static func rest(_ block: Block, from row: Int) -> Block {
        let rows = Array(row..<block.count)
        return Block(
            times: Array(block.times[row...]),
            references: block.references.map { $0.filtered(rows) })
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        let (a, b) = (heads[left].time, heads[right].time)
        if plan.isAscending { return a == b ? left < right : a < b }
        return a == b ? left > right : a > b
    }

    private mutating func sink(_ start: Int) {
        var parent = start
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && precedes(heap[child], heap[smallest]) {
                smallest = child
            }
            if smallest == parent { return }
            heap.swapAt(parent, smallest)
            parent = smallest
        }
    }
}
