// Threads of their own for tests that block: a dispatch queue may run fewer at once than wait.

internal import Foundation

/// Runs the body once for each number, each on a thread of its own; returns when all are done.
public func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let group = DispatchGroup()
    for number in 0..<count {
        group.enter()
        Thread {
            body(number)
            group.leave()
        }.start()
    }
    group.wait()
}
