// The six heart rate zones and the five limits between them.

public import CozDB

/// The limits between the six heart rate zones: rest, warm-up, fat burn, endurance, performance and
/// maximum. A rate equal to a limit belongs to the upper zone.
///
/// Source: the bracelet's documentation names the zones but gives no limits. The usual limits of
/// six such zones are 50, 60, 70, 80 and 90 % of the maximum heart rate, which is 220 minus the age
/// in years (Fox, Naughton, Haskell 1971). The documentation's example agrees: of 101 slots only
/// the one with 89/min is warm-up, while one with 81/min is rest.
public struct HeartRateZones: Hashable, Sendable {
    /// A heart rate zone, in ascending order.
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

    /// The lower limits of all zones except rest: five ascending numbers in beats per minute.
    public let limits: [Double]

    /// Zones for a maximum heart rate of 170/min, with a first limit of 85/min. This is the default
    /// for unknown participants, because it reproduces the documentation's example.
    public static let example = HeartRateZones(uncheckedMaximum: 170)

    private static let shares = [0.5, 0.6, 0.7, 0.8, 0.9]
    /// Plausible maximum heart rates, in beats per minute.
    private static let maxima = 60.0...300.0
    private static let ages = 1.0...120.0

    private init(uncheckedMaximum: Double) {
        limits = HeartRateZones.shares.map { $0 * uncheckedMaximum }
    }

    /// Creates zones with limits at 50, 60, 70, 80 and 90 % of a maximum heart rate.
    ///
    /// - Parameter maxHeartRate: 60 to 300, in beats per minute.
    /// - Throws: `usage` outside that range.
    public init(maxHeartRate: Double) throws(DatabaseError) {
        guard HeartRateZones.maxima.contains(maxHeartRate) else {
            throw DatabaseError(
                .usage,
                "maximum heart rate: found \(maxHeartRate), expected 60 to 300 beats per minute")
        }
        self.init(uncheckedMaximum: maxHeartRate)
    }

    /// Creates zones for a maximum heart rate of 220 minus the age.
    ///
    /// - Parameter age: 1 to 120 years.
    /// - Throws: `usage` outside that range.
    public init(age: Double) throws(DatabaseError) {
        guard HeartRateZones.ages.contains(age) else {
            throw DatabaseError(.usage, "age: found \(age), expected 1 to 120 years")
        }
        self.init(uncheckedMaximum: 220 - age)
    }

    /// Creates zones with custom limits.
    ///
    /// - Parameter limits: five ascending lower limits above 0, in beats per minute.
    /// - Throws: `usage` for anything else.
    public init(limits: [Double]) throws(DatabaseError) {
        let isAscending = zip(limits, limits.dropFirst()).allSatisfy { $0 < $1 }
        guard limits.count == 5, isAscending, limits.allSatisfy({ $0 > 0 && $0.isFinite }) else {
            let found = limits.map { "\($0)" }.joined(separator: ", ")
            throw DatabaseError(
                .usage,
                "heart rate zones: found \(found), expected five ascending lower limits in beats "
                    + "per minute (warm-up, fat burn, endurance, performance, maximum)")
        }
        self.limits = limits
    }

    /// Returns the zone of a heart rate in beats per minute.
    public func zone(of heartRate: Double) -> Zone {
        Zone(rawValue: limits.count { $0 <= heartRate }) ?? .maximum
    }
}
