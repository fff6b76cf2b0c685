// Every kernel beside a plain loop that does the same, in one run: `cozkernels [NAME]`. The ratio
// is what to look at: where it falls to 1, the compiler does not vectorise the kernel any more.
// Ends with 1 where a kernel is wrong, or nearer to its plain loop than it ever was.

internal import Glibc

/// One kernel and its plain twin.
struct KernelCase {
    let name: String
    /// About half of the least ratio measured, on a quiet machine and a busy one; 0 for what is no
    /// vector code with the instructions that every x86-64 has. Compiled with
    /// `-Xllvm -vectorize-loops=false`, six of them fall below theirs.
    var ratioMin = 0.0
    /// What is counted: values or bytes.
    let unit: String
    /// Values or bytes of one call.
    let count: Int
    /// Both give a number made of the result, for comparing.
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
            // In turn, the least of several: other programs take turns too. One that looks slow
            // is given more of them.
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

    /// Seconds of one call, over as many as take five milliseconds.
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

/// Makes the optimiser believe that a result is wanted.
@inline(never) private func keep(_ value: UInt64) { unsafe kept ^= value }
