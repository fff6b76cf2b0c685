// An append-only array whose elements never move. One thread appends while others read through
// views. No copy on write, no lock per element.

/// An append-only array of fixed-size chunks. Other threads read it through a `View`.
@safe final class ChunkedArray<Element: BitwiseCopyable>: @unchecked Sendable {
    // Unchecked: the owner appends and creates views under its lock. A view reads only elements
    // that were complete when it was created.
    private var chunks: [UnsafeMutablePointer<Element>] = unsafe []
    /// First chunks that were replaced by larger ones. Views may read them as long as the array
    /// lives.
    private var replacedChunks: [UnsafeMutablePointer<Element>] = unsafe []
    private(set) var count = 0
    /// Number of elements that fit without growing.
    private var capacity = 0

    /// Chunks of words are large enough that the allocator returns them to the system when freed.
    private static var shift: Int { 14 }
    private static var chunkCount: Int { 1 << shift }
    /// The first chunk starts with this many elements and doubles, so that thousands of tiny arrays
    /// stay small.
    private static var firstCount: Int { 16 }

    init() {}

    deinit {
        unsafe chunks.forEach { unsafe $0.deallocate() }
        unsafe replacedChunks.forEach { unsafe $0.deallocate() }
    }

    /// Size of the elements in bytes. Memory of the last chunk beyond them has never been touched.
    var sizeBytes: Int { count * MemoryLayout<Element>.stride }

    func append(_ element: Element) {
        if count == capacity { grow() }
        let offset = count & (Self.chunkCount - 1)
        // Sound: the last chunk exists and has room at `offset`.
        unsafe (chunks[count >> Self.shift] + offset).initialize(to: element)
        count += 1
    }

    /// Appends several elements with one capacity check per chunk.
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

    /// Makes room for at least one element.
    private func grow() {
        guard capacity > 0, capacity < Self.chunkCount else {
            let size = capacity == 0 ? Self.firstCount : Self.chunkCount
            unsafe chunks.append(.allocate(capacity: size))
            capacity += size
            return
        }
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: 2 * capacity)
        // Sound: the first chunk is full, and the new one has twice its capacity.
        unsafe larger.initialize(from: chunks[0], count: capacity)
        unsafe replacedChunks.append(chunks[0])
        unsafe chunks[0] = larger
        capacity *= 2
    }

    subscript(index: Int) -> Element {
        precondition(index >= 0 && index < count, "index outside the array")
        return unsafe chunks[index >> Self.shift][index & (Self.chunkCount - 1)]
    }

    /// Returns a view of the current elements, for any thread.
    func view() -> View {
        unsafe View(chunks: chunks, count: count, owner: self)
    }

    /// A fixed number of elements of a `ChunkedArray`, which the view keeps alive.
    @safe struct View: @unchecked Sendable {
        // Unchecked: see above. Elements below `count` are never written again.
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
