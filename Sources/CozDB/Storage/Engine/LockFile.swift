// The lock file while a writer holds it: keeps the last acknowledged state in it up to date.

/// The lock file of an open database. Safe from any thread.
///
/// Records alternate between two places, so one is whole at any time. Only opening and closing sync
/// them. A record that is lost in between leaves an older state, which is harmless, and so is a
/// failed write.
final class LockFile: Sendable {
    private struct State {
        /// Holding the file holds the lock; nil once it was released.
        var file: (any File)?
        var acknowledged: AcknowledgedState

        /// Overwrites the older of the two records. After a failure the next call tries the same
        /// place again.
        mutating func write() throws(FileError) {
            var next = acknowledged
            next.serial &+= 1
            let offset = Int(next.serial % 2) * AcknowledgedState.recordSizeBytes
            try file?.writeAll(next.record(at: offset).span, at: offset)
            acknowledged.serial = next.serial
        }
    }

    private let state: Monitor<State>

    init(_ file: any File, _ acknowledged: AcknowledgedState) {
        state = Monitor(State(file: file, acknowledged: acknowledged))
    }

    /// Writes the state and the holder. Durable on return.
    func open(holder: String) throws(FileError) {
        try state.withLock { state throws(FileError) in
            // Bytes that somebody appended would stay for good.
            if let file = state.file, try file.size() > AcknowledgedState.sizeBytes {
                try file.truncate(to: AcknowledgedState.sizeBytes)
            }
            state.acknowledged.holder = holder
            try state.write()
            try state.file?.syncData()
        }
    }

    /// Notes a manifest that is durable.
    func note(_ manifest: Manifest) {
        state.withLock { state in
            state.acknowledged.generation = manifest.generation
            state.acknowledged.manifestChecksum = manifest.fileChecksum
            try? state.write()
        }
    }

    /// Notes how many bytes of a log are durable, and the checksum over their frames.
    func note(log number: UInt64, sizeBytes: Int, checksum: UInt32) {
        state.withLock { state in
            state.acknowledged.logNumber = number
            state.acknowledged.logSizeBytes = UInt64(sizeBytes)
            state.acknowledged.logChecksum = checksum
            try? state.write()
        }
    }

    /// Writes the final state of a session without a log. Durable on return; a failure is harmless,
    /// as the state before it is valid too.
    func seal() {
        try? state.withLock { state throws(FileError) in
            (state.acknowledged.logNumber, state.acknowledged.logSizeBytes) = (0, 0)
            state.acknowledged.logChecksum = 0
            try state.write()
            try state.file?.syncData()
        }
    }

    /// Whether the lock still keeps other writers out. It does not once the file was removed or
    /// replaced: the next writer locks the new file.
    func isHeld(in directory: any Directory) -> Bool {
        state.withLock { state in
            guard let file = state.file else { return false }
            return directory.isNamed(FileName.lock.text, file)
        }
    }

    /// Releases the lock.
    func release() {
        state.withLock { $0.file = nil }
    }
}
