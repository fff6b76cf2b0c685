// Where libFuzzer comes in: it brings `main`, and calls these two.

internal import Glibc

/// Memory that one process may take: whoever asks for more is ended, and that is a finding.
private let memorySizeBytesMax: UInt = 512 << 20

/// The target that the environment names.
private let target: FuzzTarget = {
    let name = unsafe getenv("COZDB_FUZZ_TARGET").map { unsafe String(cString: $0) }
    guard let name, let target = FuzzTarget(rawValue: name) else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
        print("COZDB_FUZZ_TARGET: found \(name ?? "nothing"), expected one of \(names)")
        exit(64)
    }
    return target
}()

@_cdecl("LLVMFuzzerInitialize")
public func initialize(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>>>
) -> CInt {
    _ = target
    var limit = rlimit()
    limit.rlim_cur = rlim_t(memorySizeBytesMax)
    limit.rlim_max = rlim_t(memorySizeBytesMax)
    // A limit of what is written to, not of addresses: sanitizers reserve many of those.
    return unsafe setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit)
}

/// Seconds that the process has computed, on all cores: what a busy machine makes of that is no
/// finding.
private var seconds: Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

private func end(_ finding: String) -> Never {
    let text = Array("FINDING: \(finding)\n".utf8)
    _ = unsafe write(STDERR_FILENO, text, text.count)
    abort()
}

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    let start = seconds
    do {
        try target.run(bytes)
    } catch {
        end("\(error)")
    }
    let taken = seconds - start
    if taken > 1 { end("an input that takes \(taken) s") }
    return 0
}
