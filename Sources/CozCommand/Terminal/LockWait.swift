// Waits for the lock of a database.

internal import CozDB
internal import CozPlatform

struct LockWait {
    var seconds = 0

    /// Runs the body until it does not throw `locked` or the time is over.
    ///
    /// - Throws: Errors of the body; `locked` when the time is over; `cancelled` after Ctrl-C.
    func retryWhileLocked<Result>(
        _ body: () throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        let end = ContinuousClock.now + .seconds(seconds)
        while true {
            do throws(DatabaseError) {
                return try body()
            } catch {
                guard error.kind == .locked, ContinuousClock.now < end else { throw error }
            }
            usleep(20_000)
            try DatabaseError.checkInterrupt()
        }
    }
}
