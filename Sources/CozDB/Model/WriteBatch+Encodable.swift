// Points from values of a program's own types.

extension WriteBatch {
    /// Adds a row: a value whose properties are its time, its tags and its fields.
    ///
    ///     struct Sample: Codable {
    ///         var time: Timestamp
    ///         var id_participant: String
    ///         var ts_heart_rate: Double?
    ///     }
    ///
    /// The property `time` is a ``Timestamp``. The properties with the names of identity tags are
    /// tags, and so are those that `tags` names; they are strings, or integers, which are stored as
    /// their decimal digits. All others are fields.
    /// A `Double` is stored as float, an integer as integer, a `String` as string and a `Bool` as
    /// boolean; a `Timestamp` as its RFC 3339 text, and an enumeration as its raw value. nil stores
    /// nothing. `CodingKeys` give properties other names. Foundation's `Date` is refused, because
    /// it encodes itself as seconds since 2001: use `Timestamp` for times. (A wrapper that calls
    /// `date.encode(to:)` hides the date, which is then stored so.)
    ///
    /// Cost: about half a microsecond a property. Importers use handles.
    ///
    /// - Parameters:
    ///   - row: The value. Its properties must not be arrays or nested values.
    ///   - experiment: 1 to 65,535 bytes of UTF-8.
    ///   - tags: Properties that are tags, in addition to those of the identity of `settings` (by
    ///     default `id_participant`). ``Identity/allTags`` has none, so that they must be named.
    /// - Throws: `usage` if the row has no time or no field, or a property that cannot be stored,
    ///   or if there are no names of tags. The batch is unchanged then.
    public mutating func add(
        _ row: some Encodable, experiment: String, tags: [String] = []
    ) throws(DatabaseError) {
        let encoder = try RowEncoder(
            settings.identity ?? .standard, tags: tags, renames: renames)
        try encoder.encode(row)
        try add(encoder, experiment: experiment)
    }

    /// Adds the row that the encoder has.
    mutating func add(_ encoder: RowEncoder, experiment: String) throws(DatabaseError) {
        guard let time = encoder.time else {
            throw DatabaseError(
                .usage, "found a row without the property \"time\"; expected a Timestamp")
        }
        try add(experiment: experiment, tags: encoder.tags, time: time, fields: encoder.fields)
    }
}
