// Times each kernel against a plain loop that computes the same result: `cozkernels [NAME]`. Watch
// the ratio: 1 means that the compiler does not vectorize the kernel. Exits with 1 if a kernel
// returns a wrong result or falls below its minimum ratio.

internal import Glibc

/// A kernel and the plain loop that it is compared with.
struct KernelCase {
    let name: String
    /// The lowest acceptable ratio: about half of the lowest one measured, on an idle and on a busy
    /// machine. 0 if the kernel has no vector code on baseline x86-64. With `-Xllvm
    /// -vectorize-loops=false`, six kernels fall below their minimum.
    var ratioMin = 0.0
    /// What `count` counts: values or bytes, in billions.
    let unit: String
    /// Values or bytes per call.
    let count: Int
    /// Both closures return a digest of the result, so that results can be compared.
    let kernel: () -> UInt64
    let plain: () -> UInt64
}

@main
struct Cozkernels {
    static func main() {
        let wanted = CommandLine.arguments.dropFirst().first
        var isRight = true
        var isFast = true
        print("kernel                        G/s     plain   ratio")
        for item in try! cases() where wanted.map({ item.name.contains($0) }) ?? true {
            if item.kernel() != item.plain() {
                print("\(item.name): kernel and plain loop disagree")
                isRight = false
            }
            // Alternate the two and keep the best of several rounds: other programs take processor
            // time. A kernel that looks slow gets more rounds.
            var (fast, slow) = (Double.infinity, Double.infinity)
            for round in 0..<50 where round < 7 || slow / fast < item.ratioMin {
                fast = min(fast, seconds(item.kernel))
                slow = min(slow, seconds(item.plain))
            }
            let (rate, plainRate) = (Double(item.count) / fast, Double(item.count) / slow)
            let isSlow = slow / fast < item.ratioMin
            if isSlow { isFast = false }
            print(
                padded(item.name, 26) + padded(digits(rate / 1e9), 8)
                    + padded(digits(plainRate / 1e9), 8) + padded(digits(rate / plainRate), 8)
                    + item.unit + (isSlow ? ", below \(item.ratioMin): is it vectorised?" : ""))
        }
        if !isRight || !isFast { exit(1) }
    }

    /// Returns the seconds per call, averaged over enough calls to take five milliseconds.
    private static func seconds(_ body: () -> UInt64) -> Double {
        var calls = 1
        while true {
            let start = now()
            for _ in 0..<calls { keep(body()) }
            let elapsed = now() - start
            if elapsed > 0.005 { return elapsed / Double(calls) }
            calls *= 2
        }
    }

    private static func now() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func digits(_ value: Double) -> String {
        let places = value >= 10 ? 10.0 : value >= 1 ? 100.0 : 1000.0
        return String((value * places).rounded() / places)
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.utf8.count))
    }
}

private nonisolated(unsafe) var kept: UInt64 = 0

/// Keeps the optimizer from removing the computation of `value`.
@inline(never) private func keep(_ value: UInt64) { unsafe kept ^= value }
