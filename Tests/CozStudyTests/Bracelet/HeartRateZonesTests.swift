// Limits of the zones, and what is refused.

internal import CozDB
internal import CozStudy
internal import Testing

struct HeartRateZonesTests {
    @Test func `limits are shares of the highest rate`() throws {
        #expect(try HeartRateZones(maxHeartRate: 200).limits == [100, 120, 140, 160, 180])
        #expect(try HeartRateZones(age: 20) == HeartRateZones(maxHeartRate: 200))
        #expect(HeartRateZones.example.limits.first == 85)
    }

    @Test func `a rate on a limit is in the zone above`() throws {
        let zones = try HeartRateZones(limits: [90, 100, 120, 140, 160.5])
        #expect(zones.zone(of: 0) == .rest)
        #expect(zones.zone(of: 89.9) == .rest)
        #expect(zones.zone(of: 90) == .warmUp)
        #expect(zones.zone(of: 100) == .fatBurn)
        #expect(zones.zone(of: 139) == .endurance)
        #expect(zones.zone(of: 160) == .performance)
        #expect(zones.zone(of: 160.5) == .maximum)
        #expect(zones.zone(of: 1e300) == .maximum)
    }

    @Test(
        arguments: [
            [], [90, 100, 120, 140], [90, 100, 120, 140, 140], [0, 1, 2, 3, 4],
            [90, 100, 120, 140, Double.infinity], [90, Double.nan, 120, 140, 160],
        ] as [[Double]])
    func `limits that are none are refused`(limits: [Double]) {
        let error = #expect(throws: DatabaseError.self) { try HeartRateZones(limits: limits) }
        #expect(error?.kind == .usage)
        #expect(error?.message.contains("five ascending lower limits") == true)
    }

    @Test func `impossible people are refused`() {
        for age in [0, 121, Double.nan, -Double.infinity] {
            #expect(throws: DatabaseError.self) { try HeartRateZones(age: age) }
        }
        for rate in [59, 301, Double.nan, Double.infinity] {
            #expect(throws: DatabaseError.self) { try HeartRateZones(maxHeartRate: rate) }
        }
    }
}
