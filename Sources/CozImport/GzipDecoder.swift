// A streaming gzip decoder: any number of members, checksums verified.

internal import CozZlib
internal import CozDB

/// Decodes the gzip members of one file with a fixed amount of memory.
@safe final class GzipDecoder {
    /// The first two bytes of every member (RFC 1952, 2.3.1).
    static let magic: [UInt8] = [0x1F, 0x8B]

    /// Stored bytes decoded so far: the offset of a failure.
    private(set) var consumedBytes = 0

    /// On the heap because zlib keeps its address.
    private let stream: UnsafeMutablePointer<z_stream>
    private let input: UnsafeMutableRawBufferPointer
    private var isInsideMember = false
    private var mayHoldOutput = false
    /// The error to throw after all bytes before it were returned.
    private var failure: DatabaseError?

    init(file: String) throws(DatabaseError) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        unsafe input = .allocate(byteCount: 1 << 18, alignment: 16)
        // 15: a window of 32 KiB. Plus 16: gzip only.
        let size = unsafe Int32(MemoryLayout<z_stream>.size)
        guard unsafe inflateInit2_(stream, 15 + 16, ZLIB_VERSION, size) == Z_OK else {
            throw DatabaseError(.io, "zlib cannot be initialized", file: file)
        }
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
        unsafe input.deallocate()
    }

    /// Decodes into a buffer; returns the number of bytes, 0 at the end.
    ///
    /// - Throws: `damaged` if the data is truncated or corrupt; as `InputFile.read`.
    func read(
        into target: UnsafeMutableRawBufferPointer, from file: InputFile
    ) throws(DatabaseError) -> Int {
        guard target.count > 0 else { return 0 }
        if let failure { throw failure }
        // Sound: zlib writes at most avail_out bytes, which is the size of the buffer.
        unsafe stream.pointee.next_out = target.baseAddress!.assumingMemoryBound(to: UInt8.self)
        unsafe stream.pointee.avail_out = UInt32(Swift.min(target.count, 1 << 30))
        let room = unsafe Int(stream.pointee.avail_out)
        while unsafe Int(stream.pointee.avail_out) == room {
            // zlib may still hold decoded bytes that did not fit the last buffer.
            if unsafe stream.pointee.avail_in == 0 && !(isInsideMember && mayHoldOutput) {
                if try !refill(from: file) {
                    if !isInsideMember { return 0 }
                    throw DatabaseError(.damaged, "the gzip data is truncated")
                }
            }
            if !isInsideMember, try !beginMember() { continue }
            let before = unsafe stream.pointee.avail_in
            let status = unsafe inflate(stream, Z_NO_FLUSH)
            consumedBytes += unsafe Int(before - stream.pointee.avail_in)
            mayHoldOutput = unsafe stream.pointee.avail_out == 0
            switch status {
            case Z_STREAM_END: isInsideMember = false
            case Z_OK, Z_BUF_ERROR: break
            default:
                let detail = unsafe stream.pointee.msg.map { unsafe String(cString: $0) }
                let error = DatabaseError(
                    .damaged, "the gzip data is corrupt: \(detail ?? "error \(status)")")
                failure = error
                if unsafe Int(stream.pointee.avail_out) == room { throw error }
            }
        }
        return unsafe room - Int(stream.pointee.avail_out)
    }

    private func refill(from file: InputFile) throws(DatabaseError) -> Bool {
        let count = try unsafe file.readStored(into: input)
        unsafe stream.pointee.next_in = input.baseAddress!.assumingMemoryBound(to: UInt8.self)
        unsafe stream.pointee.avail_in = UInt32(count)
        return count > 0
    }

    /// Begins the next member; false if it skipped a zero byte of padding instead.
    private func beginMember() throws(DatabaseError) -> Bool {
        // Sound: there is at least one byte of input.
        let first = unsafe stream.pointee.next_in.pointee
        if first == 0 && consumedBytes > 0 {
            unsafe stream.pointee.next_in += 1
            unsafe stream.pointee.avail_in -= 1
            consumedBytes += 1
            return false
        }
        guard first == GzipDecoder.magic[0] else {
            throw DatabaseError(
                .damaged, "something other than gzip data follows the end of a gzip member")
        }
        unsafe inflateReset(stream)
        isInsideMember = true
        return true
    }
}
