// Where the strings of a column come from: decoded values, or the memtable.

/// Resolves the string codes of values that go into a segment. Words of times resolve in any
/// source.
enum StringSource {
    case table(StringTable)
    case arena(ByteArena.View)

    func withBytes<Result>(_ code: UInt64, _ body: (Span<UInt8>) -> Result) -> Result {
        if ISOTime.isWord(code) { return ISOTime.withBytes(code, body) }
        return switch self {
        case .table(let table): table.withBytes(code, body)
        case .arena(let arena): arena.withBytes(Int(code), body)
        }
    }
}
