// The summary of steps per day: distance, energy, goal and active hours.

public import CozDB

/// The steps of one local day. Properties and encoded keys are named as in the bracelet's
/// `MetricStepsSummary`. A day without values has zeros and no slots.
///
/// Source: the bracelet's documentation ("DataModels Summaries iOS"). Its distance formula, "(steps
/// userHeight 0.414) / 100", lacks the multiplication signs. With these, a height of 163 cm and
/// rounding, its 37, 15 and 10 steps are its 25, 10 and 7 m. (On another day its 84 steps are 59 m,
/// which requires 168 to 171 cm.)
public struct StepsSummary: Hashable, Sendable, Encodable {
    /// The steps in a slot.
    public struct Slot: Hashable, Sendable, Encodable {
        /// The start of the slot.
        public var intervalDate: LocalTime
        /// The number of steps.
        public var stepCount: Int
        /// The energy in kcal. In the documentation's example half an hour of rest takes 33.
        public var energyExp: Double
        /// The mean speed in the stored unit. The raw metric is in m/s; the unit of the
        /// documentation's example is unknown.
        public var speed: Double
        /// The most frequent activity: 0 unspecified or missing, 1 other, 2 walk, 4 run, 6 cycle, 7
        /// rest.
        public var activityType: Int
        /// The distance of these steps in whole meters.
        public var distance: Int
    }

    /// Days since 1970-01-01.
    public var id: Int
    /// The local day.
    public var date: LocalDate
    /// The name of the time zone of `date`.
    public var timeZone: String
    /// The number of steps of the day.
    public var stepCount = 0
    /// Steps x height in cm x 0.414 / 100, in meters, rounded.
    public var stepDistance = 0.0
    /// The energy of the day in kcal.
    public var stepCalories = 0.0
    /// Steps in percent of the goal, truncated. May exceed 100.
    public var goalStepPercentage = 0
    /// The number of hours with at least `SummaryRequest.hourlySteps` steps. There is no public
    /// definition.
    public var moveEveryHour = 0
    /// The number of workouts that begin on the day. 0 if no field has them.
    public var workoutsCount = 0
    /// The slots with a value, in time order.
    public var slots: [Slot] = []
}

/// Converts steps to meters.
struct StepLength {
    let heightCentimetres: Double

    /// Source: the bracelet's documentation. 0.414 is the usual ratio of step length to height.
    /// Multiplied by integers first, so that halves are exact.
    func distance(_ steps: Double) -> Int { (steps * heightCentimetres * 414 / 100_000).rounded }
}

/// The values of a slot.
struct StepRow {
    var start: LocalTime
    var steps = 0.0
    /// In kcal.
    var energy = 0.0
    var speed = 0.0
    var activityType = 0.0
    var workouts = 0.0
}

extension StepsSummary {
    init(_ day: SummaryDay, _ rows: [StepRow], _ request: SummaryRequest) {
        let length = StepLength(heightCentimetres: request.heightCentimetres)
        let steps = rows.reduce(0) { $0 + $1.steps }
        id = day.id
        date = day.date
        timeZone = day.zone.name
        stepCount = steps.rounded
        stepDistance = Double(length.distance(steps))
        stepCalories = rows.reduce(0) { $0 + $1.energy }
        goalStepPercentage = (100 * steps / Double(request.stepGoal)).truncated
        moveEveryHour = StepsSummary.hours(rows, stepsMin: Double(request.hourlySteps))
        workoutsCount = rows.reduce(0) { $0 + $1.workouts }.rounded
        slots = rows.map { row in
            Slot(
                intervalDate: row.start, stepCount: row.steps.rounded, energyExp: row.energy,
                speed: row.speed, activityType: row.activityType.rounded,
                distance: length.distance(row.steps))
        }
    }

    /// Returns the number of local hours with at least `stepsMin` steps. An hour repeated by a
    /// clock change counts as two.
    private static func hours(_ rows: [StepRow], stepsMin: Double) -> Int {
        var count = 0
        var hour: Int64?
        var steps = 0.0
        for row in rows {
            let offset = Int64(row.start.offsetSeconds)
            let local = row.start.time.nanoseconds / 1_000_000_000 + offset
            // The start of the local hour in seconds since 1970 UTC.
            let begin = local - ((local % 3_600) + 3_600) % 3_600 - offset
            if begin != hour {
                if steps >= stepsMin { count += 1 }
                (hour, steps) = (begin, 0)
            }
            steps += row.steps
        }
        return steps >= stepsMin ? count + 1 : count
    }
}
