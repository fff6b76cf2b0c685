// Converts the values of an item to cells and adds the enrichment fields.

internal import CozDB
internal import CozImport

extension PayloadDecoder {
    /// Appends the values of the item to the current row. Returns false if it has none.
    mutating func appendFields(_ row: PayloadRow, _ batch: inout WriteBatch) -> Bool {
        // Enrichment goes first, because the later of two values for one field wins.
        let hasAdditions = settings.options.enrichment != nil
        if hasAdditions { appendEnrichment(row, &batch) }
        appendOffset(row, &batch)
        let before = batch.valueCount
        var previous = -1
        for index in item.members.indices where item.members[index].part != .tags {
            let member = item.members[index]
            if member.token == .null { continue }
            if member.part == .other {
                refuse(
                    member, row,
                    "unknown member, expected time, measurement, tags, fields, fields_int, "
                        + "fields_float or fields_str", .string, &batch)
                continue
            }
            let number = field(member, row, after: previous, &batch)
            previous = number
            append(member, number, row, &batch)
        }
        return batch.valueCount > before
    }

    // MARK: Names

    /// Returns the index of the member's field in the caches.
    ///
    /// Tries the field that followed the previous one last time before it searches by name.
    private mutating func field(
        _ member: PayloadItem.Member, _ row: PayloadRow, after previous: Int,
        _ batch: inout WriteBatch
    ) -> Int {
        let range = range(member.name, row.base)
        let owner = row.experiment.index &* 8 &+ member.part.rawValue
        if previous >= 0 {
            let next = caches.fields[previous].next
            if next >= 0, caches.fieldKeys.keys[next].owner == owner,
                caches.fieldKeys.size(next) == range.count,
                caches.fieldKeys.matches(next, row.text, at: range.lowerBound)
            {
                return next
            }
        }
        let number =
            caches.fieldKeys.find(row.text, range, owner: owner)
            ?? addField(member, row, range, owner)
        if previous >= 0 { caches.fields[previous].next = number }
        return number
    }

    private mutating func addField(
        _ member: PayloadItem.Member, _ row: PayloadRow, _ range: Range<Int>, _ owner: Int
    ) -> Int {
        let name = bytes(member.name, row.text, row.base)
        var field = PayloadCaches.Field()
        if !PayloadDecoder.isName(name) {
            field.fault =
                "found a field name of \(name.count) bytes, expected 1 to "
                + "\(DatabaseOptions.nameSizeBytesMax) bytes"
        } else if name.elementsEqual("time".utf8) {
            field.fault = "a field cannot be named time"
        }
        if let fields = settings.options.enrichment?.fields {
            let stored = settings.renames.stored(String(decoding: name, as: UTF8.self))
            field.isTrigger = stored.utf8.elementsEqual(
                settings.renames.stored(CozieEnrichment.trigger).utf8)
            field.companions =
                fields.firstIndex { settings.renames.stored($0).utf8.elementsEqual(stored.utf8) }
                ?? field.companions
        }
        caches.fields.append(field)
        return caches.fieldKeys.add(row.text, range, owner: owner)
    }

    // MARK: Values

    private mutating func append(
        _ member: PayloadItem.Member, _ field: Int, _ row: PayloadRow, _ batch: inout WriteBatch
    ) {
        if let fault = caches.fields[field].fault {
            return refuse(member, row, fault, .string, &batch)
        }
        switch member.part {
        case .integerFields: appendInteger(member, field, row, &batch)
        case .floatFields: appendFloat(member, field, row, &batch)
        case .stringFields where member.token != .string:
            refuse(
                member, row, "fields_str: found \(member.token.kindName), expected a string",
                .string,
                &batch)
        case .stringFields: appendString(member, field, row, isTyped: true, &batch)
        default: appendUntyped(member, field, row, &batch)
        }
    }

    private mutating func appendUntyped(
        _ member: PayloadItem.Member, _ field: Int, _ row: PayloadRow, _ batch: inout WriteBatch
    ) {
        switch member.token {
        case .string: appendString(member, field, row, isTyped: false, &batch)
        case .float where isRounded(member, row):
            appendRounded(member, row, isTyped: false, &batch)
        case .float: append(member.bits, .float, field, member, row, isTyped: false, &batch)
        case .integer:
            // The database converts the number if the field is a new or a float field, and a
            // refusal keeps the integer. Beyond 2^53 this takes a float that holds the number
            // exactly.
            let number = Int64(bitPattern: member.bits)
            if number.magnitude > 1 << 53, let same = Double(exactly: number) {
                append(same.bitPattern, .float, field, member, row, isTyped: false, &batch)
            } else {
                append(member.bits, .integer, field, member, row, isTyped: false, &batch)
            }
        case .yes: append(1, .boolean, field, member, row, isTyped: true, &batch)
        case .no: append(0, .boolean, field, member, row, isTyped: true, &batch)
        case .hugeNumber:
            refuse(
                member, row,
                "found a number beyond 1.8e308, expected a number that fits into a float", .float,
                &batch)
        default:
            refuse(
                member, row,
                "found \(member.token.kindName), expected a string, number or boolean",
                .string, &batch)
        }
    }

    private mutating func appendInteger(
        _ member: PayloadItem.Member, _ field: Int, _ row: PayloadRow, _ batch: inout WriteBatch
    ) {
        var value: Int64?
        switch member.token {
        case .integer: value = Int64(bitPattern: member.bits)
        case .float:
            let number = Double(bitPattern: member.bits)
            let isNegativeZero = number == 0 && number.sign == .minus
            value = isNegativeZero || isRounded(member, row) ? nil : Int64(exactly: number)
        case .string where isBlank(member, row): return
        default: break
        }
        guard let value else {
            let found = string(member.value, row.text, row.base)
            return refuse(
                member, row,
                "fields_int: found \(member.token.kindName) \"\(PayloadTime.excerpt(found))\", "
                    + "expected a 64-bit integer",
                .integer, &batch)
        }
        append(
            UInt64(bitPattern: value), .integer, field, member, row, isTyped: true, &batch)
    }

    /// Appends a float that no integer field stores.
    private func appendRounded(
        _ member: PayloadItem.Member, _ row: PayloadRow, isTyped: Bool, _ batch: inout WriteBatch
    ) {
        let name = bytes(member.name, row.text, row.base)
        let column = batch.column(
            experiment: row.experiment, name: name.span, type: .float, isTyped: isTyped,
            fieldType: .float)
        batch.append(column: column, bits: member.bits)
    }

    private mutating func appendFloat(
        _ member: PayloadItem.Member, _ field: Int, _ row: PayloadRow, _ batch: inout WriteBatch
    ) {
        var bits: UInt64?
        switch member.token {
        case .integer: bits = Double(exactly: Int64(bitPattern: member.bits))?.bitPattern
        case .float where isRounded(member, row):
            return appendRounded(member, row, isTyped: true, &batch)
        case .float: bits = member.bits
        case .string where isBlank(member, row): return
        default: break
        }
        guard let bits else {
            let found = string(member.value, row.text, row.base)
            return refuse(
                member, row,
                "fields_float: found \(member.token.kindName) \"\(PayloadTime.excerpt(found))\", "
                    + "expected a number that a float can represent",
                .float, &batch)
        }
        append(bits, .float, field, member, row, isTyped: true, &batch)
    }

    /// Whether an integer field must not store a float, because it is not what was written.
    private func isRounded(_ member: PayloadItem.Member, _ row: PayloadRow) -> Bool {
        NumberParsing.isRounded(
            row.text, range(member.value, row.base), to: Double(bitPattern: member.bits))
    }

    private func isBlank(_ member: PayloadItem.Member, _ row: PayloadRow) -> Bool {
        bytes(member.value, row.text, row.base).allSatisfy { $0 == 0x20 || $0 == 0x09 }
    }

    private mutating func appendString(
        _ member: PayloadItem.Member, _ field: Int, _ row: PayloadRow, isTyped: Bool,
        _ batch: inout WriteBatch
    ) {
        let range = range(member.value, row.base)
        if range.count > settings.stringSizeBytesMax,
            bytes(member.value, row.text, row.base).count > settings.stringSizeBytesMax
        {
            return refuse(
                member, row,
                "found a string of more than \(settings.stringSizeBytesMax) bytes, expected at "
                    + "most \(settings.stringSizeBytesMax); the rejects journal keeps only the "
                    + "beginning", .string, &batch)
        }
        let bits: UInt64
        if member.value.hasEscapes {
            scratch.removeAll(keepingCapacity: true)
            JSONScanner.append(row.text, range, hasEscapes: true, to: &scratch)
            bits = batch.string(scratch.span).bits
        } else {
            bits = row.text.withSpan(range) { batch.string($0).bits }
        }
        append(bits, .string, field, member, row, isTyped: isTyped, &batch)
    }

    private mutating func append(
        _ bits: UInt64, _ type: FieldType, _ field: Int, _ member: PayloadItem.Member,
        _ row: PayloadRow, isTyped: Bool, _ batch: inout WriteBatch
    ) {
        var column = caches.fields[field][type]
        if column == .none {
            let name = bytes(member.name, row.text, row.base)
            column = batch.column(
                experiment: row.experiment, name: name.span, type: type, isTyped: isTyped)
            caches.fields[field][type] = column
        }
        batch.append(column: column, bits: bits)
    }

    // MARK: Refusals

    /// Refuses one value. The other values of the item are stored.
    private mutating func refuse(
        _ member: PayloadItem.Member, _ row: PayloadRow, _ reason: String, _ locked: FieldType,
        _ batch: inout WriteBatch
    ) {
        let value: FieldValue
        var isCut = false
        switch member.token {
        case .integer: value = .integer(Int64(bitPattern: member.bits))
        case .float: value = .float(Double(bitPattern: member.bits))
        case .yes, .no: value = .boolean(member.token == .yes)
        default:
            let bytes = bytes(member.value, row.text, row.base)
            isCut = bytes.count > settings.stringSizeBytesMax
            value = .string(PayloadDecoder.prefix(bytes, sizeMax: settings.stringSizeBytesMax))
        }
        let name = storedName(of: member, row)
        if member.part != .other {
            batch.noteRefused(field: string(member.name, row.text, row.base))
        }
        isCut = isCut || name.utf8.count > DatabaseOptions.nameSizeBytesMax
        let owner = refusedOwner(row)
        var refusal = Refusal(
            subject: .value(
                experiment: owner.experiment, key: owner.key,
                time: Timestamp(nanoseconds: row.time),
                field: PayloadDecoder.prefix(
                    Array(name.utf8), sizeMax: DatabaseOptions.nameSizeBytesMax),
                value: value, locked: locked),
            reason: itemNumber + reason, source: batch.source, line: rowNumber)
        refusal.isCut = isCut
        batch.refuse(refusal)
    }

    /// The name under which a field of the item is stored. It keeps its name if the item has the
    /// new one, too.
    private mutating func storedName(of member: PayloadItem.Member, _ row: PayloadRow) -> String {
        let name = string(member.name, row.text, row.base)
        let new = settings.renames.stored(name)
        if new.utf8.elementsEqual(name.utf8) { return name }
        if refusedNames?.item != itemCount {
            let fields = item.members.filter { $0.part != .tags && $0.part != .other }
            let names = fields.map { bytes($0.name, row.text, row.base) }
            refusedNames = (itemCount, Set(names))
        }
        return refusedNames?.names.contains(Array(new.utf8)) == true ? name : new
    }

    /// The experiment and tags of the item. They are read once for all its refused members.
    private mutating func refusedOwner(
        _ row: PayloadRow
    ) -> (item: Int, experiment: String, key: SeriesKey) {
        if let refusedItem, refusedItem.item == itemCount { return refusedItem }
        var faults: [String] = []
        // A replay stores the value under these names.
        let key = SeriesKey(tags: settings.renames.renamed(tags(row.text, row.base, &faults)))
        let experiment = item.measurement.map { string($0.value, row.text, row.base) } ?? ""
        let owner = (item: itemCount, experiment: experiment, key: key)
        refusedItem = owner
        return owner
    }

    /// Returns the longest prefix of at most `sizeMax` bytes that does not split a character.
    private static func prefix(_ bytes: [UInt8], sizeMax: Int) -> String {
        var end = Swift.min(bytes.count, sizeMax)
        while end > 0, end < bytes.count, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return String(decoding: bytes[..<end], as: UTF8.self)
    }

    // MARK: Enrichment

    private mutating func appendOffset(_ row: PayloadRow, _ batch: inout WriteBatch) {
        guard let name = settings.options.offsetField, let offset = row.offset else { return }
        let column = batch.column(
            experiment: row.experiment, name: name.utf8.span, type: .integer)
        batch.append(column: column, bits: UInt64(bitPattern: Int64(offset)))
    }

    private mutating func appendEnrichment(_ row: PayloadRow, _ batch: inout WriteBatch) {
        guard let enrichment = settings.options.enrichment else { return }
        let arrival = enrichment.value(settings.arrival)
        let arrivalBits: UInt64 =
            switch arrival {
            case .float(let number): number.bitPattern
            case .string(let text): batch.string(text.utf8.span).bits
            default: 0
            }
        var columns =
            caches.companions[row.experiment]
            ?? PayloadCaches.CompanionColumns(
                arrival: column("timestamp\(enrichment.suffix)", arrival.type, row, &batch),
                trigger: column(
                    settings.renames.stored(CozieEnrichment.trigger), .string, row, &batch))
        batch.append(column: columns.arrival, bits: arrivalBits)

        var trigger: UInt64?
        var named: [Int] = []
        var hasTrigger = false
        for member in item.members where member.part != .tags && member.part != .other {
            if member.token == .null || member.isNested { continue }
            let field = caches.fields[self.field(member, row, after: -1, &batch)]
            if field.isTrigger {
                hasTrigger = true
                if member.token == .string {
                    let text = bytes(member.value, row.text, row.base)
                    trigger = batch.string(text.span).bits
                }
            }
            if field.companions >= 0, member.token != .string || !isBlank(member, row) {
                named.append(field.companions)
            }
        }
        if !hasTrigger {
            let empty = batch.string("empty".utf8.span).bits
            batch.append(column: columns.trigger, bits: empty)
            trigger = empty
        }
        for index in named {
            let name = settings.renames.stored(enrichment.fields[index])
            let pair =
                columns.fields[index]
                ?? (
                    column(name + enrichment.suffix, arrival.type, row, &batch),
                    column(name + "_trigger", .string, row, &batch)
                )
            columns.fields[index] = pair
            batch.append(column: pair.0, bits: arrivalBits)
            if let trigger { batch.append(column: pair.1, bits: trigger) }
        }
        caches.companions[row.experiment] = columns
    }

    private func column(
        _ name: String, _ type: FieldType, _ row: PayloadRow, _ batch: inout WriteBatch
    ) -> WriteBatch.ColumnHandle {
        batch.column(experiment: row.experiment, name: name.utf8.span, type: type)
    }
}
