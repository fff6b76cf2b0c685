// The benchmarked kernels and their inputs: blocks of 1024 values, as the database stores them,
// which fit into the L1 cache.

internal import Glibc

private let count = 1024

/// Returns pseudorandom numbers below `bound`.
private func numbers(_ count: Int, below bound: UInt64, seed: UInt64 = 1) -> [UInt64] {
    var state = seed
    return (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (state >> 33) % bound
    }
}

/// Combines some of the words, so that the result is used and can be compared.
private func digest(_ words: [UInt64]) -> UInt64 { words[0] &+ words[words.count / 2] &* 31 }

func cases() throws(FormatError) -> [KernelCase] {
    try integerCases() + runCases() + deltaCases() + wordCases() + timeCases() + floatCases()
        + filterCases() + presenceCases() + textCases() + checksumCases()
}

// MARK: Integers

private func integerCases() throws(FormatError) -> [KernelCase] {
    let width = 11
    let values = numbers(count, below: 1 << 11)
    var packed = ByteWriter()
    packBits(values.span, width: width, into: &packed)
    let stream = bitStream(values, width: width)
    let bytes = packed.bytes
    var output: [UInt64] = []
    var writer = ByteWriter()
    let ascending = values.indices.map { UInt64($0) * 1000 + values[$0] % 900 }
    let times = ascending.map { Int64(bitPattern: $0) }
    return [
        KernelCase(
            name: "unpack 11 bits", ratioMin: 6, unit: "G values", count: count,
            kernel: {
                output.removeAll(keepingCapacity: true)
                unpackBits(bytes.span, count: count, width: width, adding: 7, appendTo: &output)
                return digest(output)
            },
            plain: {
                output.removeAll(keepingCapacity: true)
                readBitStream(stream, count: count, width: width, adding: 7, to: &output)
                return digest(output)
            }),
        KernelCase(
            name: "pack 11 bits", ratioMin: 3, unit: "G values", count: count,
            kernel: {
                writer.removeAll()
                packBits(values.span, width: width, into: &writer)
                return UInt64(writer.count)
            },
            plain: { UInt64(bitStream(values, width: width).count) - 16 }),
        KernelCase(
            name: "summary of integers", unit: "G values", count: count,
            kernel: {
                let it = summarize(times: times.span, words: values.span, type: .integer)
                return it.sum &+ it.min &+ it.max
            },
            plain: {
                var (sum, least, most) = (Int64(0), Int64.max, Int64.min)
                for word in values {
                    let value = Int64(bitPattern: word)
                    sum += value
                    least = Swift.min(least, value)
                    most = Swift.max(most, value)
                }
                return UInt64(bitPattern: sum &+ least &+ most)
            }),
    ]
}

// MARK: Filters

private func filterCases() -> [KernelCase] {
    let words = numbers(count, below: 1 << 11)
    let test = NumberPredicate.integers(300...900, inside: true)
    let places = (0..<UInt32(count)).map { $0 * 3 }
    var bits = BitVector()
    var source = BitVector(count: count)
    test.select(words.span, into: &source)
    let rows = places.count * 3
    return [
        KernelCase(
            name: "bits of a comparison", ratioMin: 1.5, unit: "G values", count: count,
            kernel: {
                bits.removeAll(count: count)
                test.select(words.span, into: &bits)
                return UInt64(bits.oneCount)
            },
            plain: {
                let flags = words.map { (300...900).contains(Int64(bitPattern: $0)) }
                return UInt64(flags.count { $0 })
            }),
        KernelCase(
            name: "bits to their rows", ratioMin: 1.2, unit: "G values", count: count,
            kernel: {
                bits.removeAll(count: rows)
                bits.formOnes(source, in: 0..<count, at: places.span, from: 0)
                return UInt64(bits.oneCount)
            },
            plain: {
                var flags = [Bool](repeating: false, count: rows)
                for index in 0..<count where source[index] { flags[Int(places[index])] = true }
                return UInt64(flags.count { $0 })
            }),
    ]
}

private func runCases() throws(FormatError) -> [KernelCase] {
    let lengths = numbers(64, below: 31)
    let values = numbers(64, below: 1 << 40)
    let total = lengths.reduce(0) { $0 + Int($1) + 1 }
    var output: [UInt64] = []
    return [
        KernelCase(
            name: "runs to values", ratioMin: 5, unit: "G values", count: total,
            kernel: {
                output.removeAll(keepingCapacity: true)
                try? appendRuns(values.span, lengths: lengths.span, count: total, to: &output)
                return digest(output)
            },
            plain: {
                output.removeAll(keepingCapacity: true)
                for run in values.indices {
                    for _ in 0...lengths[run] { output.append(values[run]) }
                }
                return digest(output)
            }),
        KernelCase(
            name: "one value repeated", ratioMin: 4, unit: "G values", count: count,
            kernel: {
                output.removeAll(keepingCapacity: true)
                appendRepeated(values[3], count: count, to: &output)
                return digest(output)
            },
            plain: {
                output.removeAll(keepingCapacity: true)
                for _ in 0..<count { output.append(values[3]) }
                return digest(output)
            }),
    ]
}

private func deltaCases() throws(FormatError) -> [KernelCase] {
    let steps = numbers(count, below: 1 << 11)
    var sum: UInt64 = 0
    let words = steps.map { step in
        sum += step
        return sum
    }
    var writer = ByteWriter()
    var encoder = IntegerEncoder()
    encoder.plan(
        words.span, range: IntegerRange(of: words.span), type: .integer, EncodingSearch())
    encoder.write(words.span, as: .delta, into: &writer)
    let bytes = writer.bytes
    let stream = bitStream(steps, width: 11)
    var (output, scratch): ([UInt64], [UInt64]) = ([], [])
    return [
        KernelCase(
            name: "differences to values", ratioMin: 5, unit: "G values", count: count,
            kernel: {
                output.removeAll(keepingCapacity: true)
                var reader = ByteReader(bytes.span)
                try? readDelta(&reader, count: count, scratch: &scratch, appendTo: &output)
                return digest(output)
            },
            plain: {
                output.removeAll(keepingCapacity: true)
                readBitStream(stream, count: count, width: 11, adding: 0, to: &output)
                var sum: UInt64 = 0
                for index in output.indices {
                    sum += output[index]
                    output[index] = sum
                }
                return digest(output)
            })
    ]
}

/// Loops that queries run over decoded words.
private func wordCases() throws(FormatError) -> [KernelCase] {
    let words = numbers(count, below: 1 << 20)
    let floats = words.map { Double($0).bitPattern }
    let times = (0..<count).map { Int64($0 * 3) }
    let places = (0..<count).filter { words[$0] % 3 > 0 }.map { UInt32($0) }
    var output: [Int64] = []
    return [
        KernelCase(
            name: "sum of floats", ratioMin: 4, unit: "G values", count: count,
            kernel: { sumOfFloats(floats.span).bitPattern },
            plain: {
                var sum = 0.0
                for word in floats { sum += Double(bitPattern: word) }
                return sum.bitPattern
            }),
        KernelCase(
            name: "sum of integers", ratioMin: 1.4, unit: "G values", count: count,
            kernel: { UInt64(bitPattern: sumOfIntegers(words.span)) },
            plain: {
                var sum: Int64 = 0
                for word in words { sum += Int64(bitPattern: word) }
                return UInt64(bitPattern: sum)
            }),
        KernelCase(
            name: "words at places", ratioMin: 3, unit: "G values", count: places.count,
            kernel: {
                output.removeAll(keepingCapacity: true)
                appendWords(of: times.span, at: places.span, from: 0, to: &output)
                return UInt64(bitPattern: output[7])
            },
            plain: {
                output.removeAll(keepingCapacity: true)
                for place in places { output.append(times[Int(place)]) }
                return UInt64(bitPattern: output[7])
            }),
    ]
}

/// Loops over the times of rows.
private func timeCases() throws(FormatError) -> [KernelCase] {
    let words = numbers(count, below: 1 << 20)
    let times = (0..<count).map { Int64($0 * 3) }
    let others = (0..<count).map { Int64($0 * 3 + $0 % 3) }
    return [
        KernelCase(
            name: "end of a bucket", ratioMin: 4, unit: "G values", count: count,
            kernel: {
                var (start, buckets) = (0, UInt64(0))
                while start < count {
                    let end = times[start] / 384 * 384 + 384
                    start = firstIndex(in: times.span, notBefore: end, in: start..<count)
                    buckets += 1
                }
                return buckets
            },
            plain: {
                var (bucket, buckets) = (Int64(-1), UInt64(0))
                for time in times where time / 384 != bucket {
                    bucket = time / 384
                    buckets += 1
                }
                return buckets
            }),
        KernelCase(
            name: "two lists by time", unit: "G values", count: 2 * count,
            kernel: {
                let merged = mergedByTime(times.span, words.span, newer: others.span, words.span)
                return UInt64(merged.times.count) &+ digest(merged.words)
            },
            plain: {
                var byTime: [(time: Int64, word: UInt64)] = []
                var (left, right) = (0, 0)
                while left < count || right < count {
                    if left < count, right == count || times[left] < others[right] {
                        byTime.append((times[left], words[left]))
                        left += 1
                        continue
                    }
                    if left < count, times[left] == others[right] { left += 1 }
                    byTime.append((others[right], words[right]))
                    right += 1
                }
                return UInt64(byTime.count) &+ digest(byTime.map(\.word))
            }),
    ]
}

/// Packs bits without lanes: each value directly after the previous one.
private func bitStream(_ values: [UInt64], width: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(values.count * width / 8 + 16)
    var (pending, filled) = (UInt64(0), 0)
    for value in values {
        pending |= value << UInt64(filled)
        filled += width
        while filled >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: pending))
            pending >>= 8
            filled -= 8
        }
    }
    return bytes + [UInt8](repeating: 0, count: 16)
}

private func readBitStream(
    _ bytes: [UInt8], count: Int, width: Int, adding base: UInt64, to output: inout [UInt64]
) {
    var (pending, filled, offset) = (UInt64(0), 0, 0)
    for _ in 0..<count {
        while filled < width {
            pending |= UInt64(bytes[offset]) << UInt64(filled)
            offset += 1
            filled += 8
        }
        output.append(pending & (1 << UInt64(width) - 1) &+ base)
        pending >>= UInt64(width)
        filled -= width
    }
}

// MARK: Floats

private func floatCases() throws(FormatError) -> [KernelCase] {
    let digitsOfValues = numbers(count, below: 5000)
    let floats = digitsOfValues.map { (Double($0) / 10).bitPattern }
    let times = (0..<count).map { Int64($0) }
    var output = digitsOfValues
    let none: [UInt64] = []
    return [
        KernelCase(
            name: "decimals (ALP)", ratioMin: 2.5, unit: "G values", count: count,
            kernel: {
                output.removeAll(keepingCapacity: true)
                output.append(contentsOf: digitsOfValues)
                let header = DecimalHeader(exponent: 1, encoding: 0, exceptionCount: 0)
                try? restoreDecimals(&output, from: 0, header: header, exceptions: none.span)
                return digest(output)
            },
            plain: {
                output.removeAll(keepingCapacity: true)
                for word in digitsOfValues {
                    output.append((Double(Int64(bitPattern: word)) / 10).bitPattern)
                }
                return digest(output)
            }),
        KernelCase(
            name: "summary of floats", ratioMin: 2.5, unit: "G values", count: count,
            kernel: {
                let it = summarize(times: times.span, words: floats.span, type: .float)
                return it.min &+ it.max
            },
            plain: {
                // Kahan summation as well: the kernel does it in each lane.
                var (sum, error, least, most) = (0.0, 0.0, Double.infinity, -Double.infinity)
                for word in floats {
                    let value = Double(bitPattern: word)
                    let corrected = value - error
                    let next = sum + corrected
                    error = (next - sum) - corrected
                    sum = next
                    least = Swift.min(least, value)
                    most = Swift.max(most, value)
                }
                return sum.isNaN ? 0 : least.bitPattern &+ most.bitPattern
            }),
    ]
}

// MARK: Presence

private func presenceCases() throws(FormatError) -> [KernelCase] {
    let rowCount = 16_384
    let flags = numbers(rowCount, below: 2)
    let present = (0..<rowCount).filter { flags[$0] == 1 }.map { UInt16($0) }
    var writer = ByteWriter()
    Presence.encode(present.span, rowCount: rowCount, into: &writer)
    let bytes = writer.bytes
    let bits = stride(from: 0, to: rowCount, by: 8).map { start in
        (0..<8).reduce(UInt8(0)) { $0 | UInt8(flags[start + $1]) << UInt8($1) }
    }
    var positions: [UInt32] = []
    return [
        KernelCase(
            name: "presence, bitmap", ratioMin: 1.8, unit: "G rows", count: rowCount,
            kernel: {
                positions.removeAll(keepingCapacity: true)
                try? Presence.decode(
                    bytes.span, rowCount: rowCount, appendTo: &positions, base: 5)
                return UInt64(positions.count) &+ UInt64(positions[100])
            },
            plain: {
                positions.removeAll(keepingCapacity: true)
                for row in 0..<rowCount where bits[row / 8] >> UInt8(row % 8) & 1 == 1 {
                    positions.append(UInt32(row) + 5)
                }
                return UInt64(positions.count) &+ UInt64(positions[100])
            })
    ]
}

// MARK: Texts

private func textCases() throws(FormatError) -> [KernelCase] {
    let seconds = numbers(count, below: 1 << 31)
    let texts = seconds.map { isoText(Int64($0)) }
    let times = texts.compactMap { ISOTime($0.span) }
    let numbersAsText = numbers(count, below: 9_000_000).flatMap { number in
        Array("\(Double(number) / 1000),".utf8)
    }
    let padded = numbersAsText + [10] + [UInt8](repeating: 0, count: 256)
    var bytes: [UInt8] = []
    return [
        KernelCase(
            name: "ISO time, parse", ratioMin: 3, unit: "G texts", count: count,
            kernel: {
                var sum: UInt64 = 0
                for text in texts {
                    if let time = ISOTime(text.span) { sum &+= UInt64(bitPattern: time.units) }
                }
                return sum
            },
            plain: {
                var sum: UInt64 = 0
                for text in texts { sum &+= UInt64(bitPattern: secondsOfText(text)) }
                return sum
            }),
        KernelCase(
            name: "ISO time, print", ratioMin: 1.5, unit: "G texts", count: count,
            kernel: {
                bytes.removeAll(keepingCapacity: true)
                for time in times { time.append(to: &bytes) }
                return UInt64(bytes.count)
            },
            plain: {
                bytes.removeAll(keepingCapacity: true)
                for second in seconds { bytes += isoText(Int64(second)) }
                return UInt64(bytes.count)
            }),
        KernelCase(
            name: "floats, parse", ratioMin: 2.5, unit: "G numbers", count: count,
            kernel: { sumOfNumbers(padded) },
            plain: {
                var sum: UInt64 = 0
                unsafe padded.withUnsafeBufferPointer { buffer in
                    unsafe buffer.withMemoryRebound(to: CChar.self) { buffer in
                        var place = unsafe UnsafeMutablePointer(mutating: buffer.baseAddress!)
                        for _ in 0..<count {
                            var end: UnsafeMutablePointer<CChar>?
                            sum &+= unsafe strtod(place, &end).bitPattern
                            unsafe place = end! + 1
                        }
                    }
                }
                return sum
            }),
    ]
}

private func sumOfNumbers(_ bytes: [UInt8]) -> UInt64 {
    // Sound: the bytes end in a newline and more zeros than the scan reads ahead.
    unsafe bytes.withUnsafeBufferPointer { buffer in
        let text = unsafe PaddedBytes(base: buffer.baseAddress!, count: bytes.count - 256)
        var (sum, place) = (UInt64(0), 0)
        for _ in 0..<count {
            let number = NumberParsing.scan(text, at: place)
            sum &+= number.bits
            place = number.end + 1
        }
        return sum
    }
}

private func secondsOfText(_ text: [UInt8]) -> Int64 {
    func number(_ range: Range<Int>) -> Int32 {
        Int32(String(decoding: text[range], as: UTF8.self)) ?? 0
    }
    var parts = unsafe tm()
    unsafe parts.tm_year = number(0..<4) - 1900
    unsafe parts.tm_mon = number(5..<7) - 1
    unsafe parts.tm_mday = number(8..<10)
    unsafe parts.tm_hour = number(11..<13)
    unsafe parts.tm_min = number(14..<16)
    unsafe parts.tm_sec = number(17..<19)
    return Int64(unsafe timegm(&parts))
}

/// Formats a time with the C library.
private func isoText(_ seconds: Int64) -> [UInt8] {
    var clock = time_t(seconds)
    var parts = unsafe tm()
    unsafe gmtime_r(&clock, &parts)
    var text = [CChar](repeating: 0, count: 32)
    let size = unsafe strftime(&text, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
    return text[..<size].map { UInt8(bitPattern: $0) }
}

// MARK: Checksums

private func checksumCases() throws(FormatError) -> [KernelCase] {
    let bytes = numbers(16_384, below: 256).map { UInt8($0) }
    return [
        KernelCase(
            name: "CRC32C, 16 KiB", ratioMin: 15, unit: "GB", count: bytes.count,
            kernel: { UInt64(checksum(bytes.span)) },
            plain: { UInt64(tableChecksum(bytes.span)) })
    ]
}
