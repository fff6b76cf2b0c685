// Named workloads: `cozbench WORKLOAD ARGUMENTS`. Wall time only informs; it gates nothing.

internal import CozDB
internal import Glibc

@main
struct Cozbench {
    static func main() {
        let arguments = CommandLine.arguments
        switch arguments.dropFirst().first {
        case "parse" where arguments.count >= 3:
            let repeats = arguments.count > 3 ? Int(arguments[3]) ?? 5 : 5
            do {
                try ParseWorkload.run(path: arguments[2], repeats: repeats)
            } catch {
                print("cozbench: \(error)")
                exit(3)
            }
        default:
            print(
                """
                usage: cozbench parse FILE [REPEATS]
                  parse   line protocol to batches of 10,000 points, no database; MB/s and rows/s
                """)
            exit(64)
        }
    }
}
