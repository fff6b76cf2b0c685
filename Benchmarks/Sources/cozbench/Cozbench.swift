// Named workloads: `cozbench WORKLOAD ARGUMENTS`. Wall time only informs; it gates nothing.

internal import CozDB
internal import Glibc

@main
struct Cozbench {
    static func main() {
        let arguments = CommandLine.arguments
        do {
            switch arguments.dropFirst().first {
            case "parse" where arguments.count >= 3:
                let repeats = arguments.count > 3 ? Int(arguments[3]) ?? 5 : 5
                try ParseWorkload.run(path: arguments[2], repeats: repeats)
            case "payload" where arguments.count >= 4:
                let repeats = arguments.count > 4 ? Int(arguments[4]) ?? 5 : 5
                try PayloadWorkload.run(
                    path: arguments[2], repeats: repeats, directory: arguments[3])
            case "table" where arguments.count >= 4:
                let repeats = arguments.count > 4 ? Int(arguments[4]) ?? 5 : 5
                try TableWorkload.run(
                    format: arguments[2], path: arguments[3], repeats: repeats)
            case "import" where arguments.count == 4:
                try ImportWorkload.run(path: arguments[2], directory: arguments[3])
            case "commits" where arguments.count >= 3:
                try CommitsWorkload.run(
                    directory: arguments[2],
                    count: arguments.count > 3 ? Int(arguments[3]) ?? 2000 : 2000,
                    threads: arguments.count > 4 ? Int(arguments[4]) ?? 100 : 100)
            case "figures" where arguments.count >= 5:
                let repeats = arguments.count > 5 ? Int(arguments[5]) ?? 3 : 3
                try FiguresWorkload.run(
                    command: arguments[2], file: arguments[3], directory: arguments[4],
                    repeats: max(1, repeats))
            default:
                print(
                    """
                    usage: cozbench parse FILE [REPEATS]
                           cozbench payload FILE DIRECTORY [REPEATS]
                           cozbench table FORMAT FILE [REPEATS]
                           cozbench import FILE DIRECTORY
                           cozbench figures COMMAND FILE DIRECTORY [REPEATS]
                      parse   line protocol to batches of 10,000 points; no database
                      payload JSON of the Cozie app to batches; payloads of 100 items to a database
                      table   CSV or JSON to batches of 10,000 points; no database
                      import  a file into a new database
                      figures the command's import speed, memory, size and start-up
                    """)
                exit(64)
            }
        } catch {
            print("cozbench: \(error)")
            exit(3)
        }
    }
}
