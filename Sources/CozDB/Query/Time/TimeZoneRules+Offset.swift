// Time zones with a fixed offset.

extension TimeZoneRules {
    /// Creates a zone with a constant offset.
    ///
    /// - Parameter offset: an offset such as `+0800`, `-03:30` or `Z`.
    /// - Throws: `usage` if the text is not an offset.
    public convenience init(offset: String) throws(DatabaseError) {
        guard let civil = CivilTime("1970-01-01T00:00:00\(offset)"),
            let seconds = civil.offsetSeconds
        else {
            throw DatabaseError(
                .usage,
                "\"\(offset)\" is not a UTC offset; expected one such as +0800")
        }
        self.init(name: offset, switches: [], offsets: [], firstOffset: seconds, rule: nil)
    }
}
