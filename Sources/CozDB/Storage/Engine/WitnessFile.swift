// Keeps the witness in the lock file up to date while a writer has the database open.

internal import Synchronization

/// The lock file in the hands of the writer that holds it. Safe from any thread.
///
/// Records are written in turn to two places. Opening, closing and the announcement of a manifest
/// without logs sync them: in between a record that is lost makes the witness older, never wrong,
/// and a failed write does no harm.
final class WitnessFile: Sendable {
    fileprivate struct State {
        /// The lock goes with the file; nil once it was given back.
        var file: (any File)?
        var witness: Witness
        /// As it was found, where the database had been closed and no manifest was written since.
        var unchanged: Witness?
    }

    private let state: Mutex<State>

    init(_ file: any File, _ witness: Witness) {
        state = Mutex(State(file: file, witness: witness))
    }

    /// Whether the database had been closed and no manifest was written since.
    var isUnchanged: Bool { state.withLock { $0.unchanged != nil } }

    /// Says durably that a writer is at work.
    ///
    /// - Parameter isSettling: whether it writes a manifest without logs next.
    func open(holder: String, isSettling: Bool = false) throws(FileError) {
        try state.withLock { state throws(FileError) in
            // Bytes that somebody appended would stay there for good.
            if let file = state.file, try file.size() > Witness.sizeBytes {
                try file.truncate(to: Witness.sizeBytes)
            }
            if state.witness.isClosed {
                state.unchanged = state.witness
                // Closing may have ended before that: one of the two records may be marked on the
                // disk, which must not have both.
                try state.file?.syncData()
            }
            state.witness.state = isSettling ? .settling : .open
            state.witness.holder = holder
            let isNew = state.witness.serial == Witness.serialBeforeFirst
            try state.write(isMarked: state.unchanged != nil)
            // A new file has no other record to fall back on while the second one is written.
            if isNew { try state.file?.syncData() }
            try state.write()
            try state.file?.syncData()
        }
    }

    /// Says durably that the next manifest names no log: beside such a manifest no older lock file
    /// passes for one that a power loss left.
    func announceSettled() throws(FileError) {
        try state.withLock { state throws(FileError) in
            state.witness.state = .settling
            try state.write()
            try state.write()
            try state.file?.syncData()
        }
    }

    /// Remembers a manifest that is durable.
    func note(_ manifest: Manifest) {
        state.withLock { state in
            state.witness.generation = manifest.generation
            state.witness.manifestChecksum = manifest.fileChecksum
            state.witness.state = .open
            state.unchanged = nil
            try? state.write()
        }
    }

    /// Remembers how much of a log is durable, and the checksum of its frames so far.
    func note(log number: UInt64, sizeBytes: Int, checksum: UInt32) {
        state.withLock { state in
            state.witness.logNumber = number
            state.witness.logSizeBytes = UInt64(sizeBytes)
            state.witness.logChecksum = checksum
            try? state.write()
        }
    }

    /// Says durably that the database was closed, after its last manifest; where nothing was
    /// written, as it said before. Failing is no harm: it then looks as after a crash of which
    /// nothing is to be recovered.
    func seal() {
        try? state.withLock { state throws(FileError) in
            if let unchanged = state.unchanged {
                state.witness = unchanged
                // Two records follow: the second one gets the serial that was found.
                state.witness.serial &-= 2
            }
            state.witness.state = .closed
            (state.witness.logNumber, state.witness.logSizeBytes) = (0, 0)
            state.witness.logChecksum = 0
            try state.write()
            try state.write(isMarked: true)
            try state.file?.syncData()
        }
    }

    /// Whether the lock still keeps others out: whoever removes or replaces the file lets a second
    /// writer in, which takes the lock of another one.
    func isHeld(in directory: any Directory) -> Bool {
        state.withLock { state in
            guard let file = state.file else { return false }
            return directory.isNamed(FileName.lock.text, file)
        }
    }

    /// Gives the lock back.
    func release() {
        state.withLock { $0.file = nil }
    }
}

extension WitnessFile.State {
    /// Writes the next record, in the place of the one before the last: the last one stays whole.
    /// After a failure the next one goes to the same place.
    ///
    /// - Parameter isMarked: whether to mark what is there before, so that an end inside of the
    ///   write is told from a change: where the other record says that it was closed.
    fileprivate mutating func write(isMarked: Bool = false) throws(FileError) {
        var next = witness
        next.serial &+= 1
        let offset = Int(next.serial % 2) * Witness.recordSizeBytes
        let record = next.record(at: offset)
        if isMarked {
            let mark = [Witness.unfinishedMark]
            try file?.writeAll(mark.span, at: offset + record.count - 1)
        }
        try file?.writeAll(record.span, at: offset)
        witness.serial = next.serial
    }
}
