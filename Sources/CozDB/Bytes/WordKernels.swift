// Kernels over spans of 64-bit words. They branch per call, not per value.

private typealias FloatLanes = SIMD8<Double>

/// Returns the sum of floats, accumulated in eight lanes. The order of additions is fixed, so the
/// result is the same on every machine. Measured: 10 G values/s in L1 cache, against 1.3 for a
/// sequential sum.
func sumOfFloats(_ words: Span<UInt64>) -> Double {
    var sum = 0.0
    let vectorCount = words.count < 24 ? 0 : words.count / 8
    if vectorCount > 0 {
        var lanes = FloatLanes.zero
        // Sound: a vector is loaded only while eight words are left.
        unsafe words.withUnsafeBytes { buffer in
            for vector in 0..<vectorCount {
                lanes += unsafe buffer.loadUnaligned(
                    fromByteOffset: vector * 64, as: FloatLanes.self)
            }
        }
        for lane in 0..<8 { sum += lanes[lane] }
    }
    for index in (vectorCount * 8)..<words.count { sum += Double(bitPattern: words[index]) }
    return sum
}

/// Returns the sum of integers modulo 2^64.
func sumOfIntegers(_ words: Span<UInt64>) -> Int64 {
    var sum: UInt64 = 0
    for index in words.indices { sum &+= words[index] }
    return Int64(bitPattern: sum)
}

/// Returns the first index in `range` whose time is not earlier than `time`; the end of the range
/// if all are earlier. Times ascend. A galloping search, because buckets are usually short.
func firstIndex(in times: Span<Int64>, notBefore time: Int64, in range: Range<Int>) -> Int {
    guard let lastIndex = range.last, times[lastIndex] >= time else { return range.upperBound }
    var low = range.lowerBound
    var step = 1
    while low + step < lastIndex, times[low + step] < time {
        low += step
        step &<<= 1
    }
    var high = min(low + step, lastIndex)
    // The result is in low...high.
    while low < high {
        let middle = (low + high) / 2
        if times[middle] < time { low = middle + 1 } else { high = middle }
    }
    return low
}

/// Returns the first index of ascending rows, from `start` on, that is not less than `row`; their
/// count if all are less. A galloping search from the start.
func firstIndex(in rows: Span<UInt32>, notBefore row: UInt32, from start: Int) -> Int {
    var low = start
    var step = 1
    while low + step < rows.count, rows[low + step] < row {
        low += step
        step &<<= 1
    }
    var high = min(low + step + 1, rows.count)
    while low < high {
        let middle = (low + high) / 2
        if rows[middle] < row { low = middle + 1 } else { high = middle }
    }
    return low
}

/// Appends the words at ascending positions of one block. Measured: 3.0 G words/s in L1 cache,
/// against 0.36 with a check per position.
///
/// - Parameters:
///   - places: Ascending positions. Position `first` is the first word of the source.
func appendWords(
    of source: Span<Int64>, at places: Span<UInt32>, from first: Int, to words: inout [Int64]
) {
    guard !places.isEmpty else { return }
    let (low, high) = (Int(places[0]), Int(places[places.count - 1]))
    precondition(low >= first && high - first < source.count, "a place outside of the block")
    let count = places.count
    let isDense = high - low == count - 1
    words.append(addingCapacity: count) { output in
        // Sound: positions ascend, so all are between the two that were checked. The output has
        // room for one word per position.
        unsafe output.withUnsafeMutableBufferPointer { target, initializedCount in
            unsafe source.withUnsafeBufferPointer { source in
                let target = target.baseAddress!
                if isDense {
                    unsafe target.initialize(
                        from: source.baseAddress! + (low - first), count: count)
                    return
                }
                let base = unsafe source.baseAddress! - first
                unsafe places.withUnsafeBufferPointer { places in
                    for index in 0..<count { unsafe target[index] = base[Int(places[index])] }
                }
            }
            initializedCount = count
        }
    }
}

/// Words with their times, ascending and unique.
struct TimedWords {
    var times: [Int64] = []
    var words: [UInt64] = []
}

/// Merges two lists by time; for equal times the newer word wins. Free of branches that depend on
/// times, because samples of two devices interleave unpredictably. Measured: 3 ns per word.
func mergedByTime(
    _ times: Span<Int64>, _ words: Span<UInt64>, newer newerTimes: Span<Int64>,
    _ newerWords: Span<UInt64>
) -> TimedWords {
    precondition(times.count == words.count, "every word has a time")
    precondition(newerTimes.count == newerWords.count, "every word has a time")
    let (count, newerCount) = (times.count, newerTimes.count)
    var merged = TimedWords()
    merged.times.append(addingCapacity: count + newerCount) { timeOutput in
        merged.words.append(addingCapacity: count + newerCount) { wordOutput in
            var (left, right) = (0, 0)
            while left < count, right < newerCount {
                let (time, newerTime) = (times[left], newerTimes[right])
                let (word, newerWord) = (words[left], newerWords[right])
                let takesNewer = newerTime <= time
                timeOutput.append(takesNewer ? newerTime : time)
                wordOutput.append(takesNewer ? newerWord : word)
                left &+= time <= newerTime ? 1 : 0
                right &+= takesNewer ? 1 : 0
            }
            for index in left..<count {
                timeOutput.append(times[index])
                wordOutput.append(words[index])
            }
            for index in right..<newerCount {
                timeOutput.append(newerTimes[index])
                wordOutput.append(newerWords[index])
            }
        }
    }
    return merged
}
