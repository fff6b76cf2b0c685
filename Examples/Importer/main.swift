// Imports files with progress: Importer DATABASE EXPERIMENT FILE... An interrupt ends the import
// after the batch that is being stored; importing the files again completes it.

import CozDB
import CozImport
import CozStudy
import Foundation
import Synchronization

final class Interrupt: Sendable {
    let isRaised = Atomic<Bool>(false)
}

let words = CommandLine.arguments.dropFirst()
guard words.count >= 3 else {
    print("usage: Importer DATABASE EXPERIMENT FILE...")
    exit(64)
}

let interrupt = Interrupt()
signal(SIGINT, SIG_IGN)
let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
source.setEventHandler { interrupt.isRaised.store(true, ordering: .relaxed) }
source.resume()

var options = ImportOptions()
// The first format that knows a file by its first bytes reads it, else the last one.
options.formats = [
    .cozieJSON(), .annotatedCSV, .influxCSV, .influxJSON, .ndjson, .csv, .lineProtocol,
]
options.experiment = words.dropFirst().first
options.isCancelled = { interrupt.isRaised.load(ordering: .relaxed) }
options.progress = { progress in
    let percent = progress.totalBytes.map { $0 > 0 ? "\(progress.readBytes * 100 / $0) %, " : "" }
    print("\(percent ?? "")\(progress.points) points")
}

do throws(DatabaseError) {
    let files = Array(words.dropFirst(2))
    // The inputs first: a pipe that waits for its writer must not keep the lock.
    let inputs = try ImportInputs(files, options: options)
    let database = try Database.open(words.first ?? "")
    let report = try importFiles(inputs, into: database, options: options)
    try database.close()
    print("stored \(report.values) values of \(report.points) points")
    for refusal in report.examples {
        print("refused: \(refusal.source):\(refusal.line): \(refusal.reason)")
    }
    exit(report.hasRefusals ? 1 : 0)
} catch {
    print("\(error)")
    exit(error.kind == .usage ? 64 : 2)
}
