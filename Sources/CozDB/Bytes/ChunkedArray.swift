// An array that only grows and whose elements never move: one thread appends while others read
// what was there when they took a view. No copy on write, no lock per element.

/// Appends to fixed-size chunks. Reading goes through `View`.
@safe final class ChunkedArray<Element: BitwiseCopyable>: @unchecked Sendable {
    // Unchecked: the owner appends under its lock, and takes views under the same lock; a view
    // reads only elements that were complete when it was taken.
    private var chunks: [UnsafeMutablePointer<Element>] = unsafe []
    /// First chunks that were too small; views may read them as long as the array lives.
    private var outgrown: [UnsafeMutablePointer<Element>] = unsafe []
    private(set) var count = 0
    /// Elements that there is room for.
    private var capacity = 0

    /// A chunk of words is large enough for the allocator to give it back when it is freed.
    private static var shift: Int { 14 }
    private static var chunkCount: Int { 1 << shift }
    /// The first chunk begins with so many, and doubles: thousands of arrays with a few elements
    /// take no more than they need.
    private static var firstCount: Int { 16 }

    init() {}

    deinit {
        unsafe chunks.forEach { unsafe $0.deallocate() }
        unsafe outgrown.forEach { unsafe $0.deallocate() }
    }

    /// Bytes of the elements; what the last chunk has beyond them was never touched.
    var sizeBytes: Int { count * MemoryLayout<Element>.stride }

    func append(_ element: Element) {
        if count == capacity { grow() }
        let offset = count & (Self.chunkCount - 1)
        // Sound: the last chunk exists and has room for `offset`.
        unsafe (chunks[count >> Self.shift] + offset).initialize(to: element)
        count += 1
    }

    /// Appends elements that come together, at the price of one.
    func append(contentsOf elements: Span<Element>) {
        var taken = 0
        while taken < elements.count {
            if count == capacity { grow() }
            let offset = count & (Self.chunkCount - 1)
            let size = Swift.min(elements.count - taken, capacity - count)
            // Sound: the last chunk exists and has room for `size` elements from `offset` on.
            let target = unsafe chunks[count >> Self.shift] + offset
            for index in 0..<size {
                unsafe (target + index).initialize(to: elements[taken &+ index])
            }
            taken += size
            count += size
        }
    }

    /// Makes room for at least one more element.
    private func grow() {
        guard capacity > 0, capacity < Self.chunkCount else {
            let size = capacity == 0 ? Self.firstCount : Self.chunkCount
            unsafe chunks.append(.allocate(capacity: size))
            capacity += size
            return
        }
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: 2 * capacity)
        // Sound: the first chunk is full, and the new one has twice its room.
        unsafe larger.initialize(from: chunks[0], count: capacity)
        unsafe outgrown.append(chunks[0])
        unsafe chunks[0] = larger
        capacity *= 2
    }

    subscript(index: Int) -> Element {
        precondition(index >= 0 && index < count, "index outside the array")
        return unsafe chunks[index >> Self.shift][index & (Self.chunkCount - 1)]
    }

    /// The elements so far, for any thread.
    func view() -> View {
        unsafe View(chunks: chunks, count: count, owner: self)
    }

    /// A fixed number of elements of a `ChunkedArray`, kept alive by it.
    @safe struct View: @unchecked Sendable {
        // Unchecked: see above; elements below `count` are never written again.
        private let chunks: [UnsafeMutablePointer<Element>]
        let count: Int
        private let owner: ChunkedArray<Element>

        init(chunks: [UnsafeMutablePointer<Element>], count: Int, owner: ChunkedArray<Element>) {
            unsafe self.chunks = chunks
            self.count = count
            self.owner = owner
        }

        subscript(index: Int) -> Element {
            precondition(index >= 0 && index < count, "index outside the view")
            return unsafe chunks[index >> ChunkedArray.shift][
                index & (ChunkedArray.chunkCount - 1)]
        }
    }
}
