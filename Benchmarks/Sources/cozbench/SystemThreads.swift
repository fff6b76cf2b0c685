// Operating system threads for callers that block. A dispatch queue would run only as many at once
// as there are cores.

internal import Glibc

enum SystemThreads {
    private final class Work: Sendable {
        let number: Int
        let body: @Sendable (Int) -> Void

        init(_ number: Int, _ body: @escaping @Sendable (Int) -> Void) {
            self.number = number
            self.body = body
        }
    }

    /// Runs the body once per number, each on its own thread, and returns when all have ended.
    static func run(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        var threads: [pthread_t] = []
        for number in 0..<count {
            var thread = pthread_t()
            // Sound: retained here, released by the thread.
            let work = unsafe Unmanaged.passRetained(Work(number, body))
            let status = unsafe pthread_create(
                &thread, nil,
                { argument in
                    guard let argument = unsafe argument else { return nil }
                    let work = unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
                    work.body(work.number)
                    return nil
                }, work.toOpaque())
            if status != 0 { fatalError("no thread left after \(number)") }
            threads.append(thread)
        }
        for thread in threads { pthread_join(thread, nil) }
    }
}
