// SELECT without aggregates: rows of one series as they come, rows of several merged by time.

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
        var merge = try RowMerge(
            plan, group.inputs, in: plan.range, rowsWanted: writer.rowsWanted, counters: counters)
        var block = Block()
        while !writer.isFull, try merge.next(into: &block) {
            try writer.write(times: block.times, block.references)
        }
        try writer.finish()
    }
}

/// Merges the rows of several series by time; at one time in the order of the series.
struct RowMerge {
    private struct Head {
        var reader: BlockReader
        var block: Block
        var row = 0
    }

    private let plan: SelectPlan
    private var heads: [Head] = []
    /// For each head the time of its row, side by side: the heap compares them all the time.
    private var headTimes: [Int64] = []
    /// Indices into `heads`, as a binary heap: the next row's is first.
    private var heap: [Int] = []
    private let blockRows: Int

    init(
        _ plan: SelectPlan, _ inputs: [InputSeries], in range: TimeRange, rowsWanted: Int,
        counters: CounterBox
    ) throws(DatabaseError) {
        self.plan = plan
        blockRows = min(4096, max(rowsWanted, 1))
        for input in inputs {
            var reader = BlockReader(
                plan, input, driving: plan.auxiliary, in: range, descending: !plan.isAscending,
                blockRows: blockRows, counters: counters)
            var block = Block()
            if try reader.next(into: &block) {
                headTimes.append(block.times[0])
                heads.append(Head(reader: reader, block: block))
            }
        }
        heap = Array(heads.indices)
        for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { sink(index) }
    }

    mutating func next(into block: inout Block) throws(DatabaseError) -> Bool {
        guard let first = heap.first else { return false }
        if heap.count == 1 {
            // One series left: its blocks are the answer's.
            let head = heads[first]
            block = head.row == 0 ? head.block : RowMerge.rest(head.block, from: head.row)
            try refill(first)
            return true
        }
        var times: [Int64] = []
        var builders = plan.references.map { VectorBuilder(type: $0.type) }
        while times.count < blockRows, let top = heap.first {
            let row = heads[top].row
            times.append(headTimes[top])
            for index in builders.indices {
                builders[index].append(heads[top].block.references[index], row: row)
            }
            heads[top].row += 1
            if heads[top].row == heads[top].block.count {
                try refill(top)
            } else {
                headTimes[top] = heads[top].block.times[row + 1]
                sink(0)
            }
        }
        block = Block(times: times, references: builders.map { $0.finished() })
        return true
    }

    private mutating func refill(_ head: Int) throws(DatabaseError) {
        heads[head].row = 0
        // Taken out whole: reader and block are filled together.
        var filled = heads[head]
        heads[head].block = Block()
        if try filled.reader.next(into: &filled.block) {
            headTimes[head] = filled.block.times[0]
            heads[head] = filled
            sink(0)
            return
        }
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
        let (a, b) = (headTimes[left], headTimes[right])
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
