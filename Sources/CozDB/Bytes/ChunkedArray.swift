// An array that only grows and whose elements never move: one thread appends while others read
// what was there when they took a view. No copy on write, no lock per element.

/// Appends to fixed-size chunks. Reading goes through `View`.
@safe final class ChunkedArray<Element: BitwiseCopyable>: @unchecked Sendable {
    // Unchecked: the owner appends under its lock, and takes views under the same lock; a view
    // reads only elements that were complete when it was taken.
    private var chunks: [UnsafeMutablePointer<Element>] = unsafe []
    private(set) var count = 0

    /// A chunk of words is large enough for the allocator to give it back when it is freed.
    private static var shift: Int { 14 }
    private static var chunkCount: Int { 1 << shift }

    init() {}

    deinit {
        unsafe chunks.forEach { unsafe $0.deallocate() }
    }

    /// Bytes of the elements; what the last chunk has beyond them was never touched.
    var sizeBytes: Int { count * MemoryLayout<Element>.stride }

    func append(_ element: Element) {
        let offset = count & (Self.chunkCount - 1)
        if offset == 0 {
            unsafe chunks.append(.allocate(capacity: Self.chunkCount))
        }
        // Sound: the last chunk exists and has room for `offset`.
        unsafe (chunks[count >> Self.shift] + offset).initialize(to: element)
        count += 1
    }

    /// Appends elements that come together, at the price of one.
    func append(contentsOf elements: Span<Element>) {
        var taken = 0
        while taken < elements.count {
            let offset = count & (Self.chunkCount - 1)
            if offset == 0 {
                unsafe chunks.append(.allocate(capacity: Self.chunkCount))
            }
            let size = Swift.min(elements.count - taken, Self.chunkCount - offset)
            // Sound: the last chunk exists and has room for `size` elements from `offset` on.
            let target = unsafe chunks[count >> Self.shift] + offset
            for index in 0..<size {
                unsafe (target + index).initialize(to: elements[taken &+ index])
            }
            taken += size
            count += size
        }
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
