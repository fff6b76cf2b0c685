// The routes of the service.

import CozDB
import CozImport
import CozStudy
import Hummingbird

/// The answer to a payload.
struct PayloadAnswer: ResponseCodable {
    var items: Int
    var values: Int
    /// What was refused, and why. The rest is stored.
    var issues: [String]
}

/// The answer to an import.
struct ImportAnswer: ResponseCodable {
    var points: Int
    var refused: Int
}

/// What the app shows of its participant. A property is a column of the statement.
struct Reading: ResponseCodable {
    var time: Timestamp
    var ts_heart_rate: Double?
    var q_preference_thermal: String?
}

func makeRouter(_ database: Database) -> Router<BasicRequestContext> {
    let router = Router()
    router.add(middleware: DatabaseErrors())

    // A payload of the app. It is durable when the answer arrives, so the app may forget it.
    router.post("payloads") { request, _ -> PayloadAnswer in
        let body = try await request.body.collect(upTo: 10 << 20)
        let payload = try CoziePayload(Array(body.readableBytesView), source: "app")
        let report = try await payload.write(to: database)
        return PayloadAnswer(
            items: report.itemCount, values: report.write.values,
            issues: report.issues.map(\.reason))
    }

    // The rows of a participant, for the app.
    router.get("experiments/:experiment/participants/:participant") {
        request, context -> [Reading] in
        let since = request.uri.queryParameters["since"].map(String.init) ?? "1970-01-01T00:00:00Z"
        guard let since = Timestamp(since) else {
            throw HTTPError(
                .badRequest, message: "since is not a time such as 2024-03-01T08:00:00Z")
        }
        // A parameter is one token: no value can change the statement.
        let result = try await database.query(
            """
            SELECT ts_heart_rate, q_preference_thermal FROM $experiment
            WHERE id_participant = $participant AND time >= $since LIMIT 10000
            """,
            parameters: [
                "experiment": QueryParameter.identifier(
                    try context.parameters.require("experiment")),
                "participant": try context.parameters.require("participant"), "since": since,
            ])
        return try result.rows(as: Reading.self)
    }

    // A file of any size and format. It is imported while it arrives.
    router.put("imports/:name") { request, context -> ImportAnswer in
        var options = ImportOptions()
        options.formats = [.cozieJSON(), .annotatedCSV, .influxJSON, .ndjson, .csv, .lineProtocol]
        options.experiment = request.uri.queryParameters["experiment"].map(String.init)
        let report = try await importBytes(
            request.body.map(\.readableBytesView), name: try context.parameters.require("name"),
            into: database, options: options)
        return ImportAnswer(
            points: report.points, refused: report.refusedLines + report.refusedValues)
    }

    // Numbers for Prometheus.
    router.get("metrics") { _, _ -> String in
        let info = try await database.info()
        let numbers = [
            ("commits_total", Int(info.sequence)),
            ("rows", info.experiments.map(\.rows).reduce(0, +)),
            ("disk_bytes", info.diskBytes), ("log_bytes", info.walBytes),
            ("refusals", info.rejects), ("unkept_refusals", info.unkeptRejects),
        ]
        return numbers.map { "cozdb_\($0) \($1)\n" }.joined()
    }

    router.get("health") { _, _ in HTTPResponse.Status.ok }
    return router
}

/// Answers an error of the database with its status and its message, which says what to do.
struct DatabaseErrors<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as DatabaseError {
            switch error.kind {
            case .usage: throw HTTPError(.badRequest, message: error.message)
            case .notFound: throw HTTPError(.notFound, message: error.message)
            case .limitExceeded: throw HTTPError(.contentTooLarge, message: error.message)
            case .busy: throw HTTPError(.serviceUnavailable, message: error.message)
            default:
                // The message may name files of the server.
                context.logger.error(
                    "a call of the database failed", metadata: ["error": "\(error)"])
                throw HTTPError(.internalServerError)
            }
        }
    }
}
