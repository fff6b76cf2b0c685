// The generator of sample data: same bytes, and the traps that the real data has.

internal import CozStudy
internal import Testing

struct SampleDataTests {
    private func text(_ change: (inout SampleData) -> Void = { _ in }) -> String {
        var data = SampleData()
        data.participants = 3
        data.days = 4
        change(&data)
        var bytes: [UInt8] = []
        data.write { bytes += $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `the same seed gives the same bytes, another one others`() {
        #expect(text() == text())
        #expect(text() != text { $0.seed = 2 })
    }

    @Test(arguments: [-1, 0, Int.min]) func `a study of no days has one, of no participants none`(
        number: Int
    ) {
        #expect(text { $0.days = number } == text { $0.days = 1 })
        #expect(text { $0.participants = number } == "")
        var files = 0
        var beiwe = BeiweSample()
        (beiwe.participants, beiwe.days) = (1, number)
        beiwe.write { _, _ in files += 1 }
        #expect(files > 24)
        beiwe.participants = number
        beiwe.write { _, _ in Issue.record("a file of nobody") }
    }

    @Test func `points have what makes Cozie data hard`() {
        let text = text()
        for part in [
            "=\"None\"", "q_wake_minute=\"00\"", "\\\"loud\\\"", "Other \\\\ none", "=True",
            "ws_heart_rate_lambda=\"", "_trigger=\"", "notification_subtitle=\"\"", "☹️",
            "timestamp_lambda_ms=17", "ts_sleep_REM=", "Going to sleep", "ws_latitude=0.0",
        ] {
            #expect(text.contains(part), "\(part)")
        }
    }

    @Test func `times are out of order and some rows come twice`() {
        let times = text().split(separator: "\n").compactMap { line in
            line.hasPrefix("demo,") ? Int64(line.split(separator: " ").last ?? "") : nil
        }
        #expect(times.count > 500)
        #expect(times != times.sorted())
        #expect(Set(times).count < times.count)
    }

    @Test func `an export has a header, one field a line, and a log part`() {
        let text = text { $0.shape = .export }
        #expect(text.hasPrefix("# INFLUXDB EXPORT: "))
        #expect(text.contains("\nCREATE DATABASE \"cozie-apple\" WITH NAME autogen\n"))
        #expect(text.contains("\n# CONTEXT-DATABASE:cozie-apple\n"))
        #expect(text.contains("\n# writing wal data\n"))
        #expect(text.contains("timestamp_lambda_ms=1.7"))
        #expect(text.contains("e+12 "))
    }

    @Test func `an experiment can have any name`() {
        #expect(text { $0.experiment = "my study, 2" }.hasPrefix("my\\ study\\,\\ 2,id_onesignal="))
    }

    @Test(arguments: [
        (0.0, "0", "0"), (-0.0, "-0", "-0"), (74, "74", "74"), (1e21, "1e+21", "1e+21"),
        (1e20, "100000000000000000000", "1e+20"), (1.5e-7, "1.5e-7", "1.5e-07"),
        (0.00001, "0.00001", "1e-05"), (123456789.25, "123456789.25", "1.2345678925e+08"),
        (1_760_495_140_864, "1760495140864", "1.760495140864e+12"), (0.1, "0.1", "0.1"),
        (-2.5e300, "-2.5e+300", "-2.5e+300"), (.leastNonzeroMagnitude, "5e-324", "5e-324"),
        (100000, "100000", "100000"), (1e6, "1000000", "1e+06"),
    ])
    func `numbers are written as Go writes them`(value: Double, json: String, general: String) {
        #expect(ShortestDecimal(value).json == json)
        #expect(ShortestDecimal(value).general == general)
    }
}
