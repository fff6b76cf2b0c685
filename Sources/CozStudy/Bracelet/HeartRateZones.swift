// Six zones of the heart rate, cut by five limits.

public import CozDB

/// Limits between the six zones of a heart rate: rest, warm-up, fat burn, endurance, performance
/// and maximum. A rate on a limit belongs to the zone above it.
///
/// Source: the bracelet's documentation names the zones and gives no limits. The usual ones of six
/// such zones are 50, 60, 70, 80 and 90 % of the highest heart rate, and that is 220 less the age
/// in years (Fox, Naughton, Haskell 1971). The documentation's example fits: of 101 slots only
/// that of 89/min is counted as warm-up, while one of 81/min is rest.
public struct HeartRateZones: Hashable, Sendable {
    /// A zone, the calmest first.
    public enum Zone: Int, CaseIterable, Sendable {
        /// Below the first limit.
        case rest
        /// From the first limit.
        case warmUp
        /// From the second limit.
        case fatBurn
        /// From the third limit.
        case endurance
        /// From the fourth limit.
        case performance
        /// From the fifth limit.
        case maximum
    }

    /// The five lower limits of all zones but rest, ascending, in beats per minute.
    public let limits: [Double]

    /// For a highest rate of 170/min: the first limit is 85/min. It stands in where nothing is
    /// known of a person, because with it the example of the documentation comes out right.
    public static let example = HeartRateZones(uncheckedMaximum: 170)

    private static let shares = [0.5, 0.6, 0.7, 0.8, 0.9]
    /// What can be the highest rate of a human heart, in beats per minute.
    private static let maxima = 60.0...300.0
    private static let ages = 1.0...120.0

    private init(uncheckedMaximum: Double) {
        limits = HeartRateZones.shares.map { $0 * uncheckedMaximum }
    }

    /// Limits at 50, 60, 70, 80 and 90 % of a highest heart rate.
    ///
    /// - Parameter maxHeartRate: 60 to 300, in beats per minute.
    /// - Throws: `usage` outside of that range.
    public init(maxHeartRate: Double) throws(DatabaseError) {
        guard HeartRateZones.maxima.contains(maxHeartRate) else {
            throw DatabaseError(
                .usage,
                "maximum heart rate: found \(maxHeartRate), expected 60 to 300 beats per minute")
        }
        self.init(uncheckedMaximum: maxHeartRate)
    }

    /// The same, the highest rate being 220 less the age.
    ///
    /// - Parameter age: 1 to 120 years.
    /// - Throws: `usage` outside of that range.
    public init(age: Double) throws(DatabaseError) {
        guard HeartRateZones.ages.contains(age) else {
            throw DatabaseError(.usage, "age: found \(age), expected 1 to 120 years")
        }
        self.init(uncheckedMaximum: 220 - age)
    }

    /// Limits of one's own.
    ///
    /// - Parameter limits: five lower limits, ascending, above 0, in beats per minute.
    /// - Throws: `usage` for anything else.
    public init(limits: [Double]) throws(DatabaseError) {
        let isAscending = zip(limits, limits.dropFirst()).allSatisfy { $0 < $1 }
        guard limits.count == 5, isAscending, limits.allSatisfy({ $0 > 0 && $0.isFinite }) else {
            let found = limits.map { "\($0)" }.joined(separator: ", ")
            throw DatabaseError(
                .usage,
                "heart rate zones: found \(found), expected five ascending lower limits in beats "
                    + "per minute: of warm-up, fat burn, endurance, performance and maximum")
        }
        self.limits = limits
    }

    /// The zone in which a heart rate lies, in beats per minute.
    public func zone(of heartRate: Double) -> Zone {
        Zone(rawValue: limits.count { $0 <= heartRate }) ?? .maximum
    }
}
