// An event that happens once, and wakes the threads that wait for it.

internal import CozKernels

/// A one-time event that threads can wait for.
@safe final class Gate: @unchecked Sendable {
    // Unchecked: only two atomic calls access the word.
    private let word = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)

    init() { unsafe word.initialize(to: 0) }

    deinit { unsafe word.deallocate() }

    /// Waits until the gate is open. Returns at once if it already is.
    func wait() { unsafe coz_gate_wait(word) }

    /// Waits at most this time. Returns whether the gate is open.
    func wait(atMost time: Duration) -> Bool {
        let nanoseconds = time.components.attoseconds / 1_000_000_000
        return unsafe coz_gate_wait_for(
            word, time.components.seconds * 1_000_000_000 + nanoseconds)
    }

    func open() { unsafe coz_gate_open(word) }
}
