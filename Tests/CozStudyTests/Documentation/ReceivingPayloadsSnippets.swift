// The code of the article Receiving payloads, which DocumentationTests compares with the article.

internal import CozDB
internal import CozStudy
internal import CozTestSupport
internal import Testing

// Snippet: Handle a request
enum Response: Equatable {
    case ok, badRequest(String), unavailable
}

func receive(_ body: [UInt8], into database: Database) -> Response {
    var options = CoziePayloadOptions()
    options.enrichment = CozieEnrichment()
    do {
        let payload = try CoziePayload(body, options: options)
        let report = try payload.write(to: database)  // one durable commit
        for issue in report.issues { note(issue.reason) }
        return .ok
    } catch {
        switch error.kind {
        case .usage, .limitExceeded: return .badRequest(error.message)
        default: return .unavailable  // the app sends the payload again
        }
    }
}
// End of snippet

struct ReceivingPayloadsSnippets {
    @Test func `the article's handler answers`() throws {
        let folder = TemporaryDirectory()
        let path = folder.path
        // Snippet: Open the database with the catalogue
        var options = DatabaseOptions()
        options.presets = [.cozieV3]
        let database = try Database.open(path, options: options)
        // End of snippet
        let body = """
            [{"time": "2022-09-01T07:02:51.578+0800", "measurement": "dev",
              "tags": {"id_participant": "dev01"}, "fields": {"ts_heart_rate": 74}},
             {"time": "2022-09-01T07:03:51.578+0800", "measurement": "dev",
              "tags": {}, "fields": {"ts_heart_rate": 75}}]
            """
        #expect(receive(Array(body.utf8), into: database) == .ok)
        #expect(try database.rowCount() == 1)
        guard case .badRequest = receive(Array("{".utf8), into: database) else {
            Issue.record("a body that is no JSON is refused")
            return
        }

        // Snippet: Look up a field
        let rate = CozieCatalogue.v3.field(named: "ts_heart_rate")
        let unit = rate?.unit ?? ""
        let meaning = rate?.meaning ?? ""
        // End of snippet
        #expect(!unit.isEmpty && !meaning.isEmpty)
        try database.close()
    }

    @Test func `the article's atomic payload is refused as a whole`() throws {
        let folder = TemporaryDirectory()
        let database = try Database.open(folder.path)
        let body = """
            [{"time": "2022-09-01T07:02:51.578+0800", "measurement": "dev",
              "tags": {"id_participant": "dev01"}, "fields": {"ts_heart_rate": 74}}, {}]
            """
        let bytes = Array(body.utf8)
        // Snippet: Refuse a payload as a whole
        var options = CoziePayloadOptions()
        options.isAtomic = true
        let payload = try CoziePayload(bytes, options: options)
        if payload.issues.isEmpty {
            _ = try payload.write(to: database)
        }
        // End of snippet
        #expect(payload.issues.count == 1 && payload.itemCount == 2)
        try database.close()
    }
}

private func note(_ text: String) {}
