// Reads the second and third part of a line: fields and timestamp.

internal import CozDB

extension LineProtocolParser {
    /// Reads one point and appends its cells; returns the index of the newline that ends it, or -1.
    mutating func point(
        _ text: PaddedBytes, at start: Int, into batch: inout WriteBatch
    ) -> Int {
        let fieldsStart = readSeries(text, at: start, &batch)
        if fieldsStart < 0 { return -1 }
        let first = skipLineBlanks(text, fieldsStart)
        if isLineEnd(text, first) { return fail("missing fields", first) }
        let end = readFields(text, at: first, &batch)
        if end < 0 { return -1 }
        if timeFieldsInLine > 0 && !batch.hasOpenRow {
            return fail(reasonForNoFields(text, start), first, decidedAt: end)
        }
        return readTime(text, at: end)
    }

    @inline(__always) private func isLineEnd(_ text: PaddedBytes, _ index: Int) -> Bool {
        text[index] == newline || text[index] == carriageReturn && text[index + 1] == newline
    }

    /// Reads all fields; returns the index of the space or line end after them, or -1.
    @inline(__always) private mutating func readFields(
        _ text: PaddedBytes, at start: Int, _ batch: inout WriteBatch
    ) -> Int {
        let experiment = series[lastSeries].experiment
        var index = start
        var previous = -1
        var field = firstFields[experiment.index]
        while true {
            if field >= 0 && fieldKeys.matches(field, text, at: index) {
                index += fieldKeys.size(field)
            } else {
                field = findField(text, at: index, experiment)
                if field < 0 { return -1 }
                if previous < 0 {
                    firstFields[experiment.index] = field
                } else {
                    fields[previous].next = field
                }
                index += fieldKeys.size(field)
            }
            index = readValue(text, at: index, field, experiment, &batch)
            if index < 0 { return -1 }
            if text[index] == comma {
                index += 1
                previous = field
                field = fields[field].next
                continue
            }
            if text[index] == space || isLineEnd(text, index) { return index }
            return failAfterValue(text, index)
        }
    }

    /// Returns the number of the field whose key begins at `start`, or -1.
    @inline(never) private mutating func findField(
        _ text: PaddedBytes, at start: Int, _ experiment: WriteBatch.ExperimentHandle
    ) -> Int {
        if text[start] == equalsSign { return fail("missing field key", start) }
        var index = start
        while text[index] != equalsSign || text[index - 1] == backslash && index > start {
            let byte = text[index]
            let isEscaped = index > start && text[index - 1] == backslash
            if byte == newline || (byte == comma || byte == space) && !isEscaped {
                return fail("invalid field format", index)
            }
            index += 1
            while text[index] > equalsSign && text[index] != backslash { index += 1 }
        }
        let key = start..<(index + 1)
        if let known = fieldKeys.find(text, key, owner: experiment.index) { return known }
        if let place = text.firstInvalidUTF8(in: key) { return fail("invalid UTF-8", place) }
        scratch.removeAll(keepingCapacity: true)
        let name = unescape(text, start..<index, isMeasurement: false)
        if name.count > DatabaseOptions.nameSizeBytesMax {
            return fail(
                "max key length exceeded: \(name.count) > \(DatabaseOptions.nameSizeBytesMax)",
                start)
        }
        var entry = FieldEntry()
        entry.isTime = scratch[name].elementsEqual("time".utf8)
        fields.append(entry)
        for _ in 0..<FieldEntry.stringSlotSize { lastStrings.append(0) }
        return fieldKeys.add(text, key, owner: experiment.index)
    }

    /// Reads one value and appends its cell; returns the index after it, or -1.
    @inline(__always) private mutating func readValue(
        _ text: PaddedBytes, at start: Int, _ field: Int, _ experiment: WriteBatch.ExperimentHandle,
        _ batch: inout WriteBatch
    ) -> Int {
        let first = text[start]
        if first &- 0x30 < 10 || first == NumberParsing.minus || first == NumberParsing.point {
            let number = NumberParsing.scan(text, at: start)
            switch number.kind {
            case .float:
                append(number.bits, .float, field, experiment, &batch)
            case .integer:
                append(number.bits, .integer, field, experiment, &batch)
            default:
                return failNumber(text, start, number)
            }
            return number.end
        }
        if first == quote {
            if let size = repeatedStringSize(text, start, field) {
                append(fields[field].stringBits, .string, field, experiment, &batch)
                return start + size + 2
            }
            return readString(text, at: start, field, experiment, &batch)
        }
        return readBoolean(text, at: start, field, experiment, &batch)
    }

    @inline(__always) private mutating func append(
        _ bits: UInt64, _ type: FieldType, _ field: Int, _ experiment: WriteBatch.ExperimentHandle,
        _ batch: inout WriteBatch
    ) {
        let column = fields[field][type]
        if column == .none {
            appendFirst(bits, type, field, experiment, &batch)
        } else {
            batch.append(column: column, bits: bits)
        }
    }

    /// Appends the first value of a field with this type in the batch.
    @inline(never) private mutating func appendFirst(
        _ bits: UInt64, _ type: FieldType, _ field: Int, _ experiment: WriteBatch.ExperimentHandle,
        _ batch: inout WriteBatch
    ) {
        if fields[field].isTime {
            timeFieldsInLine += 1
            return
        }
        scratch.removeAll(keepingCapacity: true)
        let key = fieldKeys.keys[field]
        let name = unescape(
            fieldKeys.bytes, key.start..<(key.start + key.size - 1), isMeasurement: false)
        let column = batch.column(
            experiment: experiment, name: scratch.span.extracting(name), type: type)
        fields[field][type] = column
        batch.append(column: column, bits: bits)
    }

    // MARK: Strings

    /// Returns the size of the field's last string if the same string is here again.
    @inline(__always) private func repeatedStringSize(
        _ text: PaddedBytes, _ open: Int, _ field: Int
    ) -> Int? {
        let size = fields[field].stringSize
        guard size >= 0,
            text.equals(
                at: open + 1, lastStrings.bytes, at: field * FieldEntry.stringSlotSize, size: size)
        else { return nil }
        return text[open + 1 + size] == quote ? size : nil
    }

    @inline(never) private mutating func readString(
        _ text: PaddedBytes, at open: Int, _ field: Int, _ experiment: WriteBatch.ExperimentHandle,
        _ batch: inout WriteBatch
    ) -> Int {
        let string = scanString(text, open)
        guard string.end >= 0 else { return -1 }
        let content = (open + 1)..<string.end
        if string.hasHighBits, let place = text.firstInvalidUTF8(in: content) {
            return fail("invalid UTF-8", place)
        }
        let bits: UInt64
        if string.hasEscapes {
            scratch.removeAll(keepingCapacity: true)
            unescapeString(text, content)
            bits = batch.string(scratch.span).bits
        } else {
            bits = text.withSpan(content) { batch.string($0).bits }
            if content.count <= FieldEntry.stringSlotSize && !string.hasNewlines {
                let slot = field * FieldEntry.stringSlotSize
                text.withSpan(content) { lastStrings.replace(at: slot, with: $0) }
                fields[field].stringSize = content.count
                fields[field].stringBits = bits
            }
        }
        append(bits, .string, field, experiment, &batch)
        return string.end + 1
    }

    private struct ScannedString {
        /// Index of the closing quote, or -1.
        var end: Int
        var hasHighBits = false
        var hasEscapes = false
        var hasNewlines = false
    }

    /// Finds the closing quote. Only `\"` and `\\` are escapes; newlines are content.
    @inline(__always) private mutating func scanString(
        _ text: PaddedBytes, _ open: Int
    ) -> ScannedString {
        let lastEnd = open + 1 + options.stringSizeBytesMax
        var string = ScannedString(end: -1)
        var high: UInt64 = 0
        var index = open + 1
        while index < text.count && index <= lastEnd {
            let word = text.word(index)
            let found =
                PaddedBytes.places(of: quote, in: word)
                | PaddedBytes.places(of: backslash, in: word)
                | PaddedBytes.places(of: newline, in: word)
            high |= word
            if found == 0 {
                index += 8
                continue
            }
            index += found.trailingZeroBitCount &>> 3
            if index >= text.count || index > lastEnd { break }
            switch text[index] {
            case quote:
                string.end = index
                string.hasHighBits = high & 0x8080_8080_8080_8080 != 0
                return string
            case backslash:
                let isEscape = text[index + 1] == quote || text[index + 1] == backslash
                string.hasEscapes = string.hasEscapes || isEscape
                index += isEscape ? 2 : 1
            default:
                string.hasNewlines = true
                if newlinesInStrings == 0 { firstOpenQuote = open }
                newlinesInStrings += 1
                index += 1
            }
        }
        let isTooLong = index > lastEnd && !string.hasNewlines
        let reason =
            isTooLong
            ? "a string of more than \(options.stringSizeBytesMax) bytes" : unbalancedQuotes
        string.end = fail(reason, open, decidedAt: index > lastEnd ? open : text.count)
        return string
    }

    private mutating func unescapeString(_ text: PaddedBytes, _ range: Range<Int>) {
        var index = range.lowerBound
        while index < range.upperBound {
            if text[index] == backslash && index + 1 < range.upperBound
                && (text[index + 1] == quote || text[index + 1] == backslash)
            {
                index += 1
            }
            scratch.append(text[index])
            index += 1
        }
    }

    // MARK: Booleans and timestamps

    @inline(never) private mutating func readBoolean(
        _ text: PaddedBytes, at start: Int, _ field: Int, _ experiment: WriteBatch.ExperimentHandle,
        _ batch: inout WriteBatch
    ) -> Int {
        var end = start
        while text[end] != comma && text[end] != space && !isLineEnd(text, end) { end += 1 }
        if end == start { return fail("missing field value", start) }
        guard let value = BooleanWord.value(text, start..<end) else {
            let isNumber = text[start] | 0x20 == UInt8(ascii: "n")
            return fail(isNumber ? "invalid number" : "invalid boolean", start)
        }
        append(value ? 1 : 0, .boolean, field, experiment, &batch)
        return end
    }

    /// Reads the optional timestamp; returns the index of the newline that ends the line, or -1.
    @inline(__always) private mutating func readTime(_ text: PaddedBytes, at start: Int) -> Int {
        var index = skipLineBlanks(text, start)
        if isLineEnd(text, index) {
            let unit = options.cutsNow ? options.precision.nanoseconds : 1
            pointTime = now.nanoseconds - now.nanoseconds % unit
            return text[index] == newline ? index : index + 1
        }
        let isNegative = text[index] == NumberParsing.minus
        let first = isNegative ? index + 1 : index
        var value: UInt64 = 0
        index = NumberParsing.digits(text, first, into: &value)
        let size = index - first
        let (product, overflow) = value.multipliedReportingOverflow(by: timeFactor)
        if size - 1 < 19 && size > 0 && !overflow && product <= LineProtocolParser.timeLimit {
            let time = Int64(truncatingIfNeeded: product)
            pointTime = isNegative ? 0 &- time : time
        } else if !readTimeSlowPath(text, first..<index, isNegative) {
            return -1
        }
        let digitsEnd = index
        while text[index] == space { index += 1 }
        if text[index] == newline { return index }
        if isLineEnd(text, index) { return index + 1 }
        return fail(index == digitsEnd ? "bad timestamp" : "point is invalid", index)
    }

    /// The maximum timestamp; the minimum is its negative.
    private static var timeLimit: UInt64 { UInt64(Timestamp.max.nanoseconds) }

    /// The slow path of `readTime`: leading zeros, out of range, or no digits. False if the line is
    /// bad.
    @inline(never) private mutating func readTimeSlowPath(
        _ text: PaddedBytes, _ digits: Range<Int>, _ isNegative: Bool
    ) -> Bool {
        guard !digits.isEmpty else {
            _ = fail("bad timestamp", digits.lowerBound)
            return false
        }
        let value = NumberParsing.integer(text, digits, isNegative: isNegative)
        let (time, overflow) = (value ?? 0).multipliedReportingOverflow(
            by: options.precision.nanoseconds)
        let range = Timestamp.min.nanoseconds...Timestamp.max.nanoseconds
        guard value != nil, !overflow, range.contains(time) else {
            _ = fail(
                "time outside range \(range.lowerBound) - \(range.upperBound)", digits.lowerBound)
            return false
        }
        pointTime = time
        return true
    }

    // MARK: Error messages

    @inline(never) private mutating func failNumber(
        _ text: PaddedBytes, _ start: Int, _ number: ScannedNumber
    ) -> Int {
        guard number.kind == .overflow else {
            let isFloat = number.kind == .invalidFloat
            return fail(isFloat ? "invalid float" : "invalid number", start)
        }
        let digits = String(decoding: text.copy(start..<(number.end - 1)), as: UTF8.self)
        return fail(
            "unable to parse integer \(digits): strconv.ParseInt: parsing \"\(digits)\": "
                + "value out of range", start)
    }

    /// Fails because no comma, space or line end follows a value.
    @inline(never) private mutating func failAfterValue(_ text: PaddedBytes, _ index: Int) -> Int {
        fail(text[index - 1] == quote ? unbalancedQuotes : "invalid number", index)
    }

    private func reasonForNoFields(_ text: PaddedBytes, _ start: Int) -> String {
        var end = start + 1
        while !(text[end] == comma || text[end] == space) || text[end - 1] == backslash { end += 1 }
        let name = String(decoding: text.copy(start..<end), as: UTF8.self)
        return "invalid field name: input field \"time\" on measurement \"\(name)\" is invalid"
    }
}
