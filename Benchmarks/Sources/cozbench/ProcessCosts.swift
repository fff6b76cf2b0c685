// Costs of a process as the kernel counts them: bytes passed to write calls, and memory.

internal import CozDB
internal import Glibc

enum ProcessCosts {
    /// Bytes that a process passed to write calls so far, to any file: `wchar` of /proc/N/io. The
    /// database writes with such calls only.
    static func writtenBytes(of process: String = "self") throws(DatabaseError) -> Int {
        let path = "/proc/\(process)/io"
        let text = String(decoding: try ParseWorkload.readFile(path), as: UTF8.self)
        for line in text.split(separator: "\n") where line.hasPrefix("wchar: ") {
            if let count = Int(line.dropFirst(7)) { return count }
        }
        throw DatabaseError(.io, "no count of written bytes", file: path)
    }

    /// The largest resident set so far, in bytes.
    static func peakSizeBytes() -> Int {
        var usage = rusage()
        // Sound: fills in a local value.
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss * 1024
    }

    /// The current resident set and number of threads.
    static func now() throws(DatabaseError) -> (kilobytes: Int, threads: Int) {
        let path = "/proc/self/status"
        let text = String(decoding: try ParseWorkload.readFile(path), as: UTF8.self)
        func number(_ name: String) -> Int? {
            let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
            return line?.split(whereSeparator: { $0 == "\t" || $0 == " " }).dropFirst().first
                .flatMap { Int($0) }
        }
        guard let kilobytes = number("VmRSS"), let threads = number("Threads") else {
            throw DatabaseError(.io, "no memory or threads", file: path)
        }
        return (kilobytes, threads)
    }
}
