// The preset `bracelet-raw`: types and units of the bracelet's raw metrics, one row per minute.
//
// Source: developer.corsano.com, raw data, MetricActivity; the models that corsano-realm-converter
// reads from the app's database (MetricTemperature, MetricEmography); the sleep slots in the
// bracelet's documentation. Measurements are floats; counts and codes are integers.

public import CozDB

extension SchemaPreset {
    /// The preset `bracelet-raw`: the raw metrics of the bracelet, from which `BraceletSummaries`
    /// computes its results.
    public static let braceletRaw = SchemaPreset(
        name: "bracelet-raw",
        fields: activity + [
            .init("temp1", .float, unit: "degC", note: "skin"),
            .init("temp2", .float, unit: "degC"),
            .init("tempAmb", .float, unit: "degC", note: "ambient"),
            .init("coreBodyTemperature", .float, unit: "degC", note: "second bracelet only"),
            .init("sleepType", .integer, note: "0 undefined, 1 awake, 2 light, 3 deep, 4 REM"),
            .init("cognitiveZone", .integer),
            .init("predictiveCZ", .integer),
            .init("predictiveCZTransitionTime", .integer),
            .init("czHour", .integer),
            .init("cortisolContribution", .integer),
            .init("cognitiveZoneQ", .integer),
            .init("stressLevelSkinConductance", .integer, note: "under development"),
            .init("stressLevelSkinConductanceQ", .integer),
        ])

    private static let activity: [Field] = [
        .init("bpm", .float, unit: "count/min", note: "mean of the last 60 s, 0 to 255"),
        .init("bpm_q", .integer, note: "0 (bad) to 4 (very good)"),
        .init("last_steps", .integer, unit: "count", note: "steps of the last 60 s"),
        .init(
            "activity_type", .integer,
            note: "0 unspecified, 1 other, 2 walk, 4 run, 6 cycle, 7 rest"),
        .init("speed", .float, unit: "m/s"),
        .init("spo2", .float, unit: "%"),
        .init("spo2Q", .integer, note: "0 (bad) to 4 (very good)"),
        .init("energy_exp", .float, unit: "cal", note: "active and passive, of the last 60 s"),
        .init("respiration_rate", .float, unit: "count/min"),
        .init("resp_q", .integer, note: "0 (bad) to 4 (very good)"),
        .init("wearing", .integer, note: "0 (not worn) to 4"),
        .init("battery", .float, unit: "%"),
    ]
}
