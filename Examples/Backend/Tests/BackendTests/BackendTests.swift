// The service answers what it has stored, and says what it refuses.

import CozDB
import Foundation
import Hummingbird
import HummingbirdTesting
import Testing

@testable import Backend

struct BackendTests {
    private func withService(
        _ body: @Sendable (any TestClientProtocol, Database) async throws -> Void
    ) async throws {
        let database = try Database.inMemory()
        let app = Application(router: makeRouter(database))
        try await app.test(.router) { client in try await body(client, database) }
        try await database.close()
    }

    private static let payload = """
        [{"time": "2024-03-01T08:00:00Z", "measurement": "dev",
          "tags": {"id_participant": "p01"}, "fields": {"ts_heart_rate": 71}},
         {"time": "2024-03-01T08:01:00Z", "measurement": "dev",
          "tags": {"id_participant": "p01"}, "fields": {"q_preference_thermal": "Warmer"}},
         {"time": "2024-03-01T08:02:00Z", "measurement": "dev", "tags": {}, "fields": {"a": 1}}]
        """

    @Test func `a payload is stored and read back`() async throws {
        try await withService { client, _ in
            let answer = try await client.execute(
                uri: "/payloads", method: .post, body: ByteBuffer(string: Self.payload)
            ) { try JSONDecoder().decode(PayloadAnswer.self, from: $0.body) }
            #expect(answer.items == 3 && answer.values == 2)
            #expect(answer.issues == ["item 3: missing tags.id_participant"])
            let readings = try await client.execute(
                uri: "/experiments/dev/participants/p01?since=2024-03-01T08:00:30Z", method: .get
            ) { try JSONDecoder().decode([Reading].self, from: $0.body) }
            #expect(readings.map(\.q_preference_thermal) == ["Warmer"])
        }
    }

    @Test func `a file is imported while it arrives`() async throws {
        try await withService { client, database in
            let lines = (0..<50_000).map { "dev,id_participant=p\($0 % 7) x=\($0) \($0)\n" }
            let answer = try await client.execute(
                uri: "/imports/points.txt", method: .put,
                body: ByteBuffer(string: lines.joined() + "no line\n")
            ) { try JSONDecoder().decode(ImportAnswer.self, from: $0.body) }
            #expect(answer.points == 50_000 && answer.refused == 1)
            let count = try await database.query("SELECT count(x) FROM dev")
            #expect(count.series[0].column("count")?.integers == [50_000])
        }
    }

    @Test(arguments: [
        ("/payloads", HTTPRequest.Method.post, "no JSON", HTTPResponse.Status.badRequest),
        ("/experiments/none/participants/p01", .get, "", .notFound),
        ("/experiments/dev/participants/p01?since=soon", .get, "", .badRequest),
    ])
    func `a mistake of the client has its status`(
        uri: String, method: HTTPRequest.Method, body: String, status: HTTPResponse.Status
    ) async throws {
        try await withService { client, _ in
            try await client.execute(uri: uri, method: method, body: ByteBuffer(string: body)) {
                #expect($0.status == status)
                #expect($0.body.readableBytes > 0)
            }
        }
    }

    @Test func `metrics count what was stored`() async throws {
        try await withService { client, _ in
            _ = try await client.execute(
                uri: "/payloads", method: .post, body: ByteBuffer(string: Self.payload)
            ) { $0.status }
            try await client.execute(uri: "/metrics", method: .get) {
                let text = String(buffer: $0.body)
                #expect(text.contains("cozdb_rows 2\n") && text.contains("cozdb_refusals 1\n"))
            }
        }
    }
}
