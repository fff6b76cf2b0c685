// Keeps the witness in the lock file up to date while a writer has the database open.

internal import Synchronization

/// The lock file in the hands of the writer that holds it. Safe from any thread.
///
/// Records are written in turn to two places. Only opening and closing sync them: in between a
/// record that is lost makes the witness older, never wrong, and a failed write does no harm.
final class WitnessFile: Sendable {
    fileprivate struct State {
        /// The lock goes with the file; nil once it was given back.
        var file: (any File)?
        var witness: Witness
    }

    private let state: Mutex<State>

    init(_ file: any File, _ witness: Witness) {
        state = Mutex(State(file: file, witness: witness))
    }

    /// Says durably that a writer is at work.
    func open(holder: String) throws(FileError) {
        // Bytes that somebody appended would stay there for good.
        if let file = state.withLock({ $0.file }), try file.size() > Witness.sizeBytes {
            try file.truncate(to: Witness.sizeBytes)
        }
        try writeBoth { witness in
            witness.isClosed = false
            witness.holder = holder
        }
    }

    /// Remembers a manifest that is durable.
    func note(_ manifest: Manifest) {
        state.withLock { state in
            state.witness.generation = manifest.generation
            state.witness.manifestChecksum = manifest.fileChecksum
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

    /// Says durably that the database was closed, after its last manifest. Failing is no harm: it
    /// then looks as after a crash of which nothing is to be recovered.
    func seal() {
        try? writeBoth { witness in
            witness.isClosed = true
            (witness.logNumber, witness.logSizeBytes, witness.logChecksum) = (0, 0, 0)
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

    private func writeBoth(_ change: (inout Witness) -> Void) throws(FileError) {
        try state.withLock { state throws(FileError) in
            change(&state.witness)
            try state.writeBoth()
            try state.file?.syncData()
        }
    }
}

extension WitnessFile.State {
    /// Writes the next record, in the place of the one before the last.
    fileprivate mutating func write() throws(FileError) {
        witness.serial &+= 1
        let offset = Int(witness.serial % 2) * Witness.recordSizeBytes
        let record = witness.record(at: offset)
        try file?.writeAll(record.span, at: offset)
    }

    /// Writes both records at once: wherever that ends, one of the two is whole.
    fileprivate mutating func writeBoth() throws(FileError) {
        witness.serial &+= witness.serial % 2 == 0 ? 2 : 1
        let first = witness.record(at: 0)
        witness.serial &+= 1
        let both = first + witness.record(at: Witness.recordSizeBytes)
        try file?.writeAll(both.span, at: 0)
    }
}
