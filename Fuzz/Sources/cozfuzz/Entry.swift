// The entry points for libFuzzer, which provides `main` and calls the two functions.

internal import Glibc

/// The memory limit of the process. An input that exceeds it ends the process: a finding.
private let memorySizeBytesMax: UInt = 512 << 20

/// The target named by COZDB_FUZZ_TARGET.
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
    // Limit the data segment rather than the address space: sanitizers reserve many addresses.
    return unsafe setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit)
}

/// CPU seconds of this process, on all cores. A busy machine does not add to them.
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
