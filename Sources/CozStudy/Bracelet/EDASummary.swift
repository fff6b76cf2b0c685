// Electrodermal activity of a day.

public import CozDB

/// Electrodermal activity of one local day, which the bracelet calls emography. Property names are
/// those of its `MetricEmographySummary`; so are the keys when it is encoded.
///
/// The documentation calls it "under development" and defines none of the numbers: they are taken
/// from the fields as they are.
///
/// Source: the bracelet's documentation ("DataModels Summaries iOS").
public struct EDASummary: Hashable, Sendable, Encodable {
    /// What is known of a slot; 0 where nothing is stored.
    public struct Slot: Hashable, Sendable, Encodable {
        /// Its begin.
        public var date: LocalTime
        /// The most frequent in the slot.
        public var cognitiveZone: Int
        /// The most frequent in the slot.
        public var predictiveCZ: Int
        /// The last in the slot.
        public var predictiveCZTransitionTime: Int
        /// The last in the slot.
        public var czHour: Int
        /// Mean.
        public var cortisolContribution: Int
        /// Mean.
        public var cognitiveZoneQ: Int
        /// Mean.
        public var stressLevelSkinConductance: Int
        /// Mean.
        public var stressLevelSkinConductanceQ: Int
    }

    /// Days since 1970-01-01.
    public var id: Int
    /// The local day.
    public var date: LocalDate
    /// Where that day is one.
    public var timeZone: String
    /// Mean of the slots that have a level of stress, rounded; 0 where none has.
    public var stressLevelSkinConductanceAvg = 0
    /// Slots with any value, in the order of time.
    public var slots: [Slot] = []
}

extension EDASummary {
    /// How a measurement becomes one value of a slot.
    static func function(_ metric: SummaryMetric) -> String {
        switch metric {
        case .cognitiveZone, .predictiveCZ: "mode"
        case .predictiveCZTransitionTime, .czHour: "last"
        default: "mean"
        }
    }

    /// - Parameter columns: where in the rows which measurement is.
    init(_ day: SummaryDay, _ columns: [SummaryMetric: Int]) {
        func value(_ metric: SummaryMetric, _ row: Int) -> Double? {
            columns[metric].flatMap { day.rows.columns[$0][row] }
        }
        func number(_ metric: SummaryMetric, _ row: Int) -> Int {
            value(metric, row)?.rounded ?? 0
        }
        id = day.id
        date = day.date
        timeZone = day.zone.name
        let levels = day.range.compactMap { value(.stressLevelSkinConductance, $0) }
        stressLevelSkinConductanceAvg = VitalSign(levels).average.rounded
        slots = day.range.map { row in
            Slot(
                date: day.start(row), cognitiveZone: number(.cognitiveZone, row),
                predictiveCZ: number(.predictiveCZ, row),
                predictiveCZTransitionTime: number(.predictiveCZTransitionTime, row),
                czHour: number(.czHour, row),
                cortisolContribution: number(.cortisolContribution, row),
                cognitiveZoneQ: number(.cognitiveZoneQ, row),
                stressLevelSkinConductance: number(.stressLevelSkinConductance, row),
                stressLevelSkinConductanceQ: number(.stressLevelSkinConductanceQ, row))
        }
    }
}
