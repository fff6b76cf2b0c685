// Memory accounting for a statement's buffers: growth is counted and refused beyond the limit.

internal import Synchronization

/// The bytes that a query's buffers hold, shared by its threads.
final class QueryMemory: Sendable {
    let sizeBytesMax: Int
    private let used = Atomic<Int>(0)

    init(sizeBytesMax: Int) {
        self.sizeBytesMax = sizeBytesMax
    }

    fileprivate func take(_ sizeBytes: Int) throws(DatabaseError) {
        let total = used.add(sizeBytes, ordering: .relaxed).newValue
        guard total > sizeBytesMax else { return }
        used.subtract(sizeBytes, ordering: .relaxed)
        throw QueryMemory.exceeded(total, of: sizeBytesMax)
    }

    fileprivate func give(_ sizeBytes: Int) {
        used.subtract(sizeBytes, ordering: .relaxed)
    }

    static func exceeded(_ sizeBytes: Int, of sizeBytesMax: Int) -> DatabaseError {
        DatabaseError(
            .limitExceeded,
            "the statement needs \(sizeBytes) bytes of memory, more than \(sizeBytesMax) "
                + "(memorySizeBytesMax); narrow the time range, group into fewer groups or "
                + "buckets, or raise the limit")
    }
}

/// One buffer's share of a query's memory, released when the buffer is deallocated.
final class MemoryReservation {
    private let memory: QueryMemory
    private var sizeBytes = 0

    init(_ memory: QueryMemory) {
        self.memory = memory
    }

    deinit { memory.give(sizeBytes) }

    /// Reserves more bytes, or releases some if `more` is negative.
    ///
    /// - Throws: `limitExceeded`; the share stays unchanged.
    func grow(_ more: Int) throws(DatabaseError) {
        if more > 0 { try memory.take(more) } else { memory.give(-more) }
        sizeBytes += more
    }

    func release() {
        memory.give(sizeBytes)
        sizeBytes = 0
    }

    func resize(to wanted: Int) throws(DatabaseError) {
        try grow(wanted - sizeBytes)
    }
}
