internal import ArgumentParser

@main
struct Cozdb: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "cozdb")
}
