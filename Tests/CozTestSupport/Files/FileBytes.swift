// The bytes of a file in memory, in pages that copies share until one of them is written.

internal import Foundation

/// The contents of a file at one moment; a copy costs nothing until it is changed.
@safe struct FileBytes: Hashable, Sendable {
    /// What a disk writes whole or not at all.
    static let sectorSizeBytes = 512
    /// What a kernel writes back at a time.
    static let pageSizeBytes = 4096
    private static let sectorsPerPage = pageSizeBytes / sectorSizeBytes
    private static let zeros = [UInt8](repeating: 0, count: pageSizeBytes)

    private(set) var count = 0
    /// Each of one page; what the last has behind `count` bytes are zeros.
    private var pages: [[UInt8]] = []

    init() {}

    init(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { buffer in unsafe write(buffer, at: 0) }
    }

    /// Feeds whole pages: the hasher takes single bytes ten times slower.
    func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for page in pages {
            unsafe page.withUnsafeBytes { bytes in unsafe hasher.combine(bytes: bytes) }
        }
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(pages.count * FileBytes.pageSizeBytes)
        for page in pages { bytes += page }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// Cuts the file, or makes it longer with zeros.
    mutating func resize(to size: Int) {
        let pageCount = (size + FileBytes.pageSizeBytes - 1) / FileBytes.pageSizeBytes
        if pages.count > pageCount { pages.removeLast(pages.count - pageCount) }
        while pages.count < pageCount { pages.append(FileBytes.zeros) }
        let kept = size % FileBytes.pageSizeBytes
        if size <= count, kept != 0 {
            pages[pageCount - 1].replaceSubrange(kept..., with: FileBytes.zeros[kept...])
        }
        count = size
    }

    mutating func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) {
        let end = offset + buffer.count
        if count < end { resize(to: end) }
        var place = offset
        while place < end {
            let start = place % FileBytes.pageSizeBytes
            let size = min(FileBytes.pageSizeBytes - start, end - place)
            let from = place - offset
            let part = unsafe UnsafeRawBufferPointer(rebasing: buffer[from..<(from + size)])
            unsafe write(part, page: place / FileBytes.pageSizeBytes, at: start)
            place += size
        }
    }

    private mutating func write(_ part: UnsafeRawBufferPointer, page: Int, at start: Int) {
        let isZero = unsafe FileBytes.zeros.withUnsafeBytes { zeros in
            guard part.count == zeros.count, let source = part.baseAddress,
                let none = zeros.baseAddress
            else { return false }
            return unsafe memcmp(none, source, part.count) == 0
        }
        if isZero {
            pages[page] = FileBytes.zeros
            return
        }
        unsafe pages[page].withUnsafeMutableBytes { target in
            unsafe target[start..<(start + part.count)].copyBytes(from: part)
        }
    }

    /// Fills the buffer from a place inside the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) {
        var done = 0
        while done < buffer.count {
            let start = (offset + done) % FileBytes.pageSizeBytes
            let size = min(FileBytes.pageSizeBytes - start, buffer.count - done)
            let page = pages[(offset + done) / FileBytes.pageSizeBytes]
            unsafe page.withUnsafeBytes { source in
                unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done..<(done + size)])
                    .copyMemory(
                        from: UnsafeRawBufferPointer(rebasing: source[start..<(start + size)]))
            }
            done += size
        }
    }

    /// Takes sectors over from another state of the file; longer where that has them and this not.
    mutating func copy(sectors: Range<Int>, from other: FileBytes) {
        guard let last = sectors.last else { return }
        let end = min((last + 1) * FileBytes.sectorSizeBytes, other.count)
        if end > count { resize(to: end) }
        var sector = sectors.lowerBound
        while sector <= last {
            let page = sector / FileBytes.sectorsPerPage
            let first = sector % FileBytes.sectorsPerPage
            let taken = min(FileBytes.sectorsPerPage - first, last + 1 - sector)
            if taken == FileBytes.sectorsPerPage {
                pages[page] = other.pages[page]
            } else {
                let size = FileBytes.sectorSizeBytes
                let range = (first * size)..<((first + taken) * size)
                pages[page].replaceSubrange(range, with: other.pages[page][range])
            }
            sector += taken
        }
    }
}
