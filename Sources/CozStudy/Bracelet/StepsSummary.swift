// Steps of a day with distance, energy, goal and hours of moving.

public import CozDB

/// Steps of one local day. Property names are those of the bracelet's `MetricStepsSummary`; so
/// are the keys when it is encoded. A day without values has zeros and no slots.
///
/// Source: the bracelet's documentation ("DataModels Summaries iOS"). Its formula of distance,
/// "(steps userHeight 0.414) / 100", has lost its signs of multiplication: with them, a height of
/// 163 cm and rounding, its 37, 15 and 10 steps are its 25, 10 and 7 m. (84 steps
/// on another day are 59 m there, which takes 168 to 171 cm.)
public struct StepsSummary: Hashable, Sendable, Encodable {
    /// Steps in a slot.
    public struct Slot: Hashable, Sendable, Encodable {
        /// Its begin.
        public var intervalDate: LocalTime
        /// Sum.
        public var stepCount: Int
        /// Sum, kcal; in the example rest takes 33 in half an hour.
        public var energyExp: Double
        /// Mean, as it is stored. The raw metric is in m/s; the unit of the example is unknown.
        public var speed: Double
        /// The most frequent: 0 unspecified (also where none is stored), 1 other, 2 walk, 4 run,
        /// 6 cycle, 7 rest.
        public var activityType: Int
        /// Of its steps, whole metres.
        public var distance: Int
    }

    /// Days since 1970-01-01.
    public var id: Int
    /// The local day.
    public var date: LocalDate
    /// Where that day is one.
    public var timeZone: String
    /// Sum of the day.
    public var stepCount = 0
    /// Steps x height in cm x 0.414 / 100, rounded to whole metres.
    public var stepDistance = 0.0
    /// Energy of the day, kcal.
    public var stepCalories = 0.0
    /// Steps in percent of the goal, cut to a whole number; more than 100 beyond it.
    public var goalStepPercentage = 0
    /// Hours with at least `SummaryRequest.hourlySteps` steps. No definition is public.
    public var moveEveryHour = 0
    /// Workouts that begin on the day; 0 where no field tells.
    public var workoutsCount = 0
    /// Slots with a value, in the order of time.
    public var slots: [Slot] = []
}

/// Steps to metres.
struct StepLength {
    /// Metres of a step.
    let metres: Double

    /// Source: the documentation; 0.414 is the usual share of the height.
    init(heightCentimetres: Double) {
        metres = heightCentimetres * 0.414 / 100
    }

    func distance(_ steps: Double) -> Int { (steps * metres).rounded }
}

/// What is known of steps in a slot.
struct StepRow {
    var start: LocalTime
    var steps = 0.0
    /// kcal.
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

    /// Hours on local clocks with so many steps. The hour that comes twice is two.
    private static func hours(_ rows: [StepRow], stepsMin: Double) -> Int {
        var count = 0
        var hour: Int64?
        var steps = 0.0
        for row in rows {
            let offset = Int64(row.start.offsetSeconds)
            let local = row.start.time.nanoseconds / 1_000_000_000 + offset
            // The moment at which the clock came to the hour.
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
