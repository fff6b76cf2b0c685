// Bytes on their way from a task to the thread of an import.

internal import CozDB

/// A bounded buffer with one sender and one reader. The sender is a task and waits without a
/// thread. The reader has a thread and blocks it.
final class ByteStream: Sendable {
    private struct State {
        /// What the reader takes next, from `used` on.
        var current: [UInt8] = []
        var used = 0
        /// What was sent after that.
        var next: [UInt8] = []
        /// Set once no more is sent.
        var end: Result<Void, DatabaseError>?
        /// Whether the reader has ended.
        var isAbandoned = false
        var sender: CheckedContinuation<Void, Never>?

        var isFull: Bool { next.count >= ByteStream.waitingBytesMax && end == nil && !isAbandoned }
    }

    /// How many bytes wait before the sender does.
    private static let waitingBytesMax = 1 << 20

    private let state = Monitor(State())

    /// Adds bytes. Waits while too many are unread.
    ///
    /// - Returns: false if nobody reads them, because the import or the stream has ended.
    nonisolated(nonsending) func send(_ bytes: some Sequence<UInt8>) async -> Bool {
        state.withLock { if $0.end == nil, !$0.isAbandoned { $0.next.append(contentsOf: bytes) } }
        if state.withLock({ $0.isFull }) {
            await withCheckedContinuation { continuation in
                let isFull = state.withLock { state in
                    if state.isFull { state.sender = continuation }
                    return state.isFull
                }
                if !isFull { continuation.resume() }
            }
        }
        return state.withLock { $0.end == nil && !$0.isAbandoned }
    }

    /// Ends the stream: what was sent is complete, or an error follows it. The first end counts.
    func end(_ end: Result<Void, DatabaseError>) {
        let sender = state.withLock { state in
            state.end = state.end ?? end
            return state.sender.take()
        }
        sender?.resume()
    }

    /// Tells the sender that nobody reads any more.
    func abandon() {
        let sender = state.withLock { state in
            state.isAbandoned = true
            return state.sender.take()
        }
        sender?.resume()
    }

    /// Waits for bytes and takes some; returns their number, 0 at the end.
    ///
    /// - Throws: the error that ended the stream, after the bytes before it.
    func read(into target: UnsafeMutableRawBufferPointer) throws(DatabaseError) -> Int {
        var sender: CheckedContinuation<Void, Never>?
        defer { sender?.resume() }
        return try state.withLock(when: {
            $0.used < $0.current.count || !$0.next.isEmpty || $0.end != nil
        }) { (state) throws(DatabaseError) in
            if state.used == state.current.count {
                state.current.removeAll(keepingCapacity: true)
                state.used = 0
                swap(&state.current, &state.next)
                sender = state.sender.take()
            }
            let count = min(target.count, state.current.count - state.used)
            if count == 0 { try state.end?.get() }
            unsafe target.copyBytes(from: state.current[state.used..<state.used + count])
            state.used += count
            return count
        }
    }
}
