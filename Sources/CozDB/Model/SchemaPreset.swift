// A named list of fields whose types an experiment knows before the first value comes.

/// Fields with type, unit and note that an experiment is created with
/// (`ExperimentSettings.preset`). Their types are locked from the start; other fields lock on
/// first write as usual.
public struct SchemaPreset: Hashable, Sendable {
    /// One field of a preset.
    public struct Field: Hashable, Sendable {
        /// 1 to 65,535 bytes of UTF-8; unique in the preset.
        public var name: String
        /// The type the field is locked to.
        public var type: FieldType
        /// Unit of the values, such as `count/min`; empty where they have none.
        public var unit: String
        /// What a reader should know of the values, in a sentence; empty for nothing.
        public var note: String

        /// - Parameters:
        ///   - unit: of the values, such as `count/min`; empty where they have none.
        ///   - note: what a reader should know of them; empty for nothing.
        public init(_ name: String, _ type: FieldType, unit: String = "", note: String = "") {
            self.name = name
            self.type = type
            self.unit = unit
            self.note = note
        }
    }

    /// The name that settings ask for it by; `none` is taken.
    public var name: String
    /// In the order in which the schema lists them.
    public var fields: [Field]

    /// - Parameters:
    ///   - name: what settings ask for it by; `none` is taken.
    ///   - fields: each name once.
    public init(name: String, fields: [Field]) {
        self.name = name
        self.fields = fields
    }

    /// The name that stands for no preset at all.
    static let none = "none"
}
