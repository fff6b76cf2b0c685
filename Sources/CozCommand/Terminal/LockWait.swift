// How a command waits for the lock of a database.

internal import CozDB
internal import Glibc

/// Waiting for another writer's end.
struct LockWait {
    var seconds = 0

    /// Tries until it works, the time is over, or something else than the lock is in the way.
    ///
    /// - Throws: what the body throws; `locked` once the time is over; `cancelled` after Ctrl-C.
    func untilFree<Result>(
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
