// The code of the article Logs and metrics, which DocumentationTests compares with the article.

#if Service

internal import CozDB
internal import CozDBService
internal import CozTestSupport
internal import Logging
internal import Testing

struct LogsAndMetricsSnippets {
    @Test func `the article's calls run`() async throws {
        let folder = TemporaryDirectory()
        let path = folder.path
        let logger = Logger(label: "test")
        var options = DatabaseOptions()
        // Snippet: Name several databases
        options.onEvent = EventReporter(logger: logger, database: "study").report
        let database = try await Database.open(path, options: options)
        let service = DatabaseService(
            database, logger: logger, name: "study", interval: .seconds(15))
        // End of snippet
        let task = Task { try await service.run() }
        task.cancel()
        try await task.value
        #expect(service.description == "DatabaseService(study)")
    }
}

#endif
