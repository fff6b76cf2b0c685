// The summary of electrodermal activity per day.

public import CozDB

/// The electrodermal activity of one local day. The bracelet calls it emography. Properties and
/// encoded keys are named as in its `MetricEmographySummary`.
///
/// The documentation calls it "under development" and does not define the numbers. They are
/// aggregates of the stored fields.
///
/// Source: the bracelet's documentation ("DataModels Summaries iOS").
public struct EDASummary: Hashable, Sendable, Encodable {
    /// The values of a slot. Missing values are 0.
    public struct Slot: Hashable, Sendable, Encodable {
        /// The start of the slot.
        public var date: LocalTime
        /// The most frequent value in the slot.
        public var cognitiveZone: Int
        /// The most frequent value in the slot.
        public var predictiveCZ: Int
        /// The last value in the slot.
        public var predictiveCZTransitionTime: Int
        /// The last value in the slot.
        public var czHour: Int
        /// The rounded mean.
        public var cortisolContribution: Int
        /// The rounded mean.
        public var cognitiveZoneQ: Int
        /// The rounded mean.
        public var stressLevelSkinConductance: Int
        /// The rounded mean.
        public var stressLevelSkinConductanceQ: Int
    }

    /// Days since 1970-01-01.
    public var id: Int
    /// The local day.
    public var date: LocalDate
    /// The name of the time zone of `date`.
    public var timeZone: String
    /// The rounded mean of the slots that have a stress level. 0 if there are none.
    public var stressLevelSkinConductanceAvg = 0
    /// The slots with any value, in time order.
    public var slots: [Slot] = []
}

extension EDASummary {
    static func function(_ metric: SummaryMetric) -> String {
        switch metric {
        case .cognitiveZone, .predictiveCZ: "mode"
        case .predictiveCZTransitionTime, .czHour: "last"
        default: "mean"
        }
    }

    /// - Parameter columns: the column of each metric in the rows.
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
