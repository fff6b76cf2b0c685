// Zones that are nothing but an offset.

extension TimeZoneRules {
    /// A zone whose clocks never move.
    ///
    /// - Parameter offset: such as `+0800`, `-03:30` or `Z`.
    /// - Throws: `usage` for anything else.
    public convenience init(offset: String) throws(DatabaseError) {
        guard let civil = CivilTime("1970-01-01T00:00:00\(offset)"),
            let seconds = civil.offsetSeconds
        else {
            throw DatabaseError(.usage, "\"\(offset)\" is no offset such as +0800")
        }
        self.init(name: offset, switches: [], offsets: [], firstOffset: seconds, rule: nil)
    }
}
