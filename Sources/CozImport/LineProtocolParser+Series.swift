// Reads the first part of a line, measurement and tags, into a tag set of the batch.

internal import CozDB

extension LineProtocolParser {
    /// Reads the series key; returns the index after the space that ends it, or -1.
    @inline(__always) mutating func readSeries(
        _ text: PaddedBytes, at start: Int, _ batch: inout WriteBatch
    ) -> Int {
        if lastSeries >= 0 && seriesKeys.matches(lastSeries, text, at: start) {
            return start + seriesKeys.size(lastSeries)
        }
        return findSeries(text, at: start, &batch)
    }

    @inline(never) private mutating func findSeries(
        _ text: PaddedBytes, at start: Int, _ batch: inout WriteBatch
    ) -> Int {
        // A backslash escapes the space after it, but not another backslash.
        var index = start
        while text[index] != newline && (text[index] != space || text[index - 1] == backslash) {
            index += 1
            // A measurement never begins with a space, so index - 1 >= start.
            while text[index] > comma && text[index] != backslash { index += 1 }
        }
        if text[index] == space {
            let key = start..<(index + 1)
            if let known = seriesKeys.find(text, key, owner: 0) {
                lastSeries = known
                return index + 1
            }
        }
        return addSeries(text, at: start, &batch)
    }

    /// Reads a key that is new in the batch, tag by tag.
    private mutating func addSeries(
        _ text: PaddedBytes, at start: Int, _ batch: inout WriteBatch
    ) -> Int {
        scratch.removeAll(keepingCapacity: true)
        tags.removeAll(keepingCapacity: true)
        if text[start] == comma { return fail("missing measurement", start) }
        var index = start
        repeat { index += 1 } while !isEnd(text, index)
        let measurement = unescape(text, start..<index, isMeasurement: true)
        while text[index] == comma {
            index = addTag(text, at: index + 1)
            if index < 0 { return index }
        }
        if text[index] == newline { return fail("missing fields", index) }
        if let place = text.firstInvalidUTF8(in: start..<index) {
            return fail("invalid UTF-8", place)
        }
        if let reason = reasonAgainstNames(measurement) { return fail(reason, start) }
        let experiment = batch.experiment(scratch.span.extracting(measurement))
        while firstFields.count <= experiment.index { firstFields.append(-1) }
        batch.beginTagSet(experiment: experiment)
        for tag in tags {
            batch.addTag(
                name: scratch.span.extracting(tag.name), value: scratch.span.extracting(tag.value))
        }
        lastSeries = seriesKeys.add(text, start..<(index + 1), owner: 0)
        series.append(SeriesEntry(tagSet: batch.endTagSet(), experiment: experiment))
        return index + 1
    }

    /// Whether there is an unescaped space or comma, or a newline, at an index.
    private func isEnd(_ text: PaddedBytes, _ index: Int) -> Bool {
        let byte = text[index]
        if byte == newline { return true }
        guard byte == space || byte == comma else { return false }
        return text[index - 1] != backslash
    }

    /// Reads one tag; returns the index of the comma, space or newline after it, or -1.
    private mutating func addTag(_ text: PaddedBytes, at start: Int) -> Int {
        let first = text[start]
        if first == space || first == comma || first == equalsSign || first == newline {
            return fail("missing tag key", start)
        }
        var index = start
        repeat {
            index += 1
            if isEnd(text, index) { return fail("missing tag value", index) }
        } while text[index] != equalsSign || text[index - 1] == backslash
        let name = start..<index
        let valueStart = index + 1
        let value = text[valueStart]
        if value == comma || value == space || value == newline
            || value == carriageReturn && text[valueStart + 1] == newline
        {
            return fail("missing tag value", valueStart)
        }
        index = valueStart
        repeat {
            index += 1
            if text[index] == equalsSign && text[index - 1] != backslash {
                return fail("invalid tag format", index)
            }
        } while !isEnd(text, index)
        let range = TagRange(
            name: unescape(text, name, isMeasurement: false),
            value: unescape(text, valueStart..<index, isMeasurement: false))
        tags.append(range)
        return index
    }

    /// Copies a name to the scratch bytes without its escapes.
    ///
    /// - Parameter isMeasurement: `\=` is an escape in tags and field keys only.
    mutating func unescape(
        _ text: PaddedBytes, _ range: Range<Int>, isMeasurement: Bool
    ) -> Range<Int> {
        let start = scratch.count
        var index = text.firstIndex(of: backslash, in: range) ?? range.upperBound
        text.withSpan(range.lowerBound..<index) { bytes in
            // Sound: the buffer is valid during the call and the array copies it.
            unsafe bytes.withUnsafeBufferPointer { unsafe scratch.append(contentsOf: $0) }
        }
        while index < range.upperBound {
            if text[index] == backslash && index + 1 < range.upperBound {
                let next = text[index + 1]
                if next == comma || next == space || next == equalsSign && !isMeasurement {
                    index += 1
                }
            }
            scratch.append(text[index])
            index += 1
        }
        return start..<scratch.count
    }

    /// Adds the default participant, sorts the tags, and returns an error if names are invalid.
    private mutating func reasonAgainstNames(_ measurement: Range<Int>) -> String? {
        if let problem = addParticipant(measurement) { return problem }
        let isSorted = tags.indices.dropFirst().allSatisfy {
            compare(tags[$0 - 1].name, tags[$0].name) <= 0
        }
        if !isSorted {
            var sorted = tags
            sorted.sort { compare($0.name, $1.name) < 0 }
            tags = sorted
        }
        var longest = measurement.count
        for index in tags.indices {
            let name = tags[index].name
            longest = Swift.max(longest, name.count, tags[index].value.count)
            if index > 0 && compare(name, tags[index - 1].name) == 0 { return "duplicate tags" }
            if name.count == 4 && scratch[name].elementsEqual("time".utf8) {
                return "invalid tag key: input tag \"time\" on measurement "
                    + "\"\(String(decoding: scratch[measurement], as: UTF8.self))\" is invalid"
            }
        }
        let limit = DatabaseOptions.nameSizeBytesMax
        return longest > limit ? "max key length exceeded: \(longest) > \(limit)" : nil
    }

    /// Compares two ranges of the scratch bytes in byte order: negative, zero or positive.
    private func compare(_ left: Range<Int>, _ right: Range<Int>) -> Int {
        let bytes = scratch.span
        for offset in 0..<Swift.min(left.count, right.count) {
            let difference =
                Int(bytes[left.lowerBound + offset]) - Int(bytes[right.lowerBound + offset])
            if difference != 0 { return difference }
        }
        return left.count - right.count
    }

    /// Adds the default participant to a line without one; returns why it cannot.
    private mutating func addParticipant(_ measurement: Range<Int>) -> String? {
        guard let participant = options.participant, !participant.isEmpty else { return nil }
        let experiment =
            options.participantTags.isUniform ? nil : Array(scratch[measurement])
        let name = options.participantTags.tag(of: experiment).utf8
        let bytes = scratch
        if options.renames.isEmpty {
            if tags.contains(where: { bytes[$0.name].elementsEqual(name) }) { return nil }
        } else {
            let names = tags.map { String(decoding: bytes[$0.name], as: UTF8.self) }
            if options.renames.areStored(names, as: String(name)) { return nil }
            if let problem = options.renames.problem(ofParticipantTag: String(name)) {
                return problem
            }
        }
        let start = scratch.count
        scratch.append(contentsOf: name)
        let middle = scratch.count
        scratch.append(contentsOf: participant.utf8)
        tags.append(TagRange(name: start..<middle, value: middle..<scratch.count))
        return nil
    }

    /// Records why the line is bad. Returns -1, which the reading functions return on failure.
    @inline(never) mutating func fail(
        _ reason: String, _ index: Int, decidedAt: Int? = nil
    ) -> Int {
        problem = LineProblem(reason: reason, index: index, decidedAt: decidedAt ?? index)
        return -1
    }
}
