// The preset `cozie-v3`: fields of the Cozie app, version 3, whose type and unit are beyond doubt.
// Not the whole catalogue: a field that is not listed locks on its first write, as any other.
//
// Source: the backend's lists (cozie-apple-backend, check_type.py, e29a13c) without their three
// mistakes, and what the app measures (cozie-apple, 8c88818). HealthKit hands out doubles, so
// those fields are floats though the backend cut some to integers; integers are kept for what is
// counted or chosen. A whole number fits a float field, a fraction would not fit an integer one.

public import CozDB

extension SchemaPreset {
    /// The preset `cozie-v3`: fields of phone (`ts_`), watch (`ws_`), settings (`wss_`), devices
    /// (`si_`), notifications and surveys that the Cozie app sends since version 3.
    public static let cozieV3 = SchemaPreset(
        name: "cozie-v3",
        fields: CoziePreset.measurements.flatMap { [$0.named("ts_"), $0.named("ws_")] }
            + CoziePreset.phoneMeasurements + CoziePreset.counts + CoziePreset.texts)
}

extension SchemaPreset.Field {
    fileprivate func named(_ prefix: String) -> SchemaPreset.Field {
        SchemaPreset.Field(prefix + name, type, unit: unit, note: note)
    }
}

private enum CoziePreset {
    /// What phone and watch both send, as `ts_` and `ws_`.
    static let measurements: [SchemaPreset.Field] = [
        .init("heart_rate", .float, unit: "count/min"),
        .init("resting_heart_rate", .float, unit: "count/min"),
        .init("HRV", .float, unit: "ms", note: "standard deviation of heartbeat intervals"),
        .init("oxygen_saturation", .float, unit: "%"),
        .init("wrist_temperature", .float, unit: "degC", note: "during sleep"),
        .init("audio_exposure_environment", .float, unit: "dB(A)"),
        .init("audio_exposure_headphones", .float, unit: "dB(A)"),
        .init("stand_time", .float, unit: "s", note: "the documentation says minutes; wrongly"),
        .init("exercise_time", .float, unit: "min"),
        .init("move_time", .float, unit: "min"),
        .init("workout_duration", .float, unit: "s"),
        .init("active_energy_burned", .float, unit: "kcal"),
        .init("walking_distance", .float, unit: "m"),
        .init("walking_distance_phone", .float, unit: "m"),
        .init("walking_distance_watch", .float, unit: "m"),
        .init("sleep_awake", .float, unit: "min"),
        .init("sleep_core", .float, unit: "min"),
        .init("sleep_deep", .float, unit: "min"),
        .init("sleep_in_bed", .float, unit: "min"),
        .init("sleep_REM", .float, unit: "min"),
        .init("sleep_unspecified", .float, unit: "min"),
        .init("latitude", .float, unit: "deg", note: "0 in surveys without a location"),
        .init("longitude", .float, unit: "deg", note: "0 in surveys without a location"),
        .init("altitude", .float, unit: "m"),
        .init("location_accuracy_horizontal", .float, unit: "m"),
        .init("location_accuracy_vertical", .float, unit: "m"),
        .init("location_floor", .integer, note: "the app always sends 0"),
    ]

    static let phoneMeasurements: [SchemaPreset.Field] = [
        .init("ts_BMI", .float, unit: "kg/m2"),
        .init("ts_body_mass", .float, unit: "kg"),
        .init("ts_basal_energy_burned", .float, unit: "kcal"),
        .init("ts_walking_heart_rate", .float, unit: "count/min"),
        .init("ts_appleWalkingSteadiness", .float),
        .init("timestamp_lambda_ms", .float, unit: "ms", note: "arrival, since 1970 UTC"),
    ]

    static let counts: [SchemaPreset.Field] = [
        .init("ws_survey_count", .integer, note: "begins anew with another participant ID"),
        .init("wss_goal", .integer, note: "surveys asked for"),
        .init("wss_reminder_interval", .integer, unit: "min"),
        .init("wss_time_out", .integer, note: "minutes in some studies, seconds in others"),
        .init("si_iphone_battery_charge_state", .integer, unit: "%", note: "-100: unknown"),
        .init("si_watch_battery_charge_state", .integer, unit: "%", note: "-100: unknown"),
        .init("si_iphone_cellular_signal_strength", .integer),
        .init("si_watch_cellular_signal_strength", .integer),
        .init("si_iphone_wifi_signal_strength", .integer),
        .init("si_watch_wifi_signal_strength", .integer),
    ]

    static let texts: [SchemaPreset.Field] = [
        .init("transmit_trigger", .string, note: "what made the app send the row"),
        .init("timestamp_lambda", .string, note: "arrival, UTC"),
        .init("ws_timestamp_location", .string, note: "empty in surveys without a location"),
        .init("ts_step_count_phone_timestamp_end", .string),
        .init("ts_step_count_watch_timestamp_end", .string),
        .init("ts_workout_type", .string),
        .init("app_bundle_build_version", .string, note: "also where it looks like a number"),
        .init("wss_title", .string, note: "title of the survey"),
        .init("notification_title", .string),
        .init("notification_subtitle", .string),
        .init("notification_text", .string),
        .init("action_button", .string),
        .init("action_buttons_shown", .string),
        .init("action_button_pressed", .string),
    ]
}
