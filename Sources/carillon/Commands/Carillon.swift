import ArgumentParser

/// The program: every verb of an operator or a developer is a subcommand.
@main
struct Carillon: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "carillon",
        abstract: "Turns events of a chat into notifications for the right people.",
        discussion: """
            Configured by environment variables that begin with CARILLON_, or by a JSON file that \
            CARILLON_CONFIG_FILE names. Without CARILLON_DATABASE_URL it runs a PostgreSQL of its own.
            """,
        version: Release.version,
        subcommands: [
            ServeCommand.self, MigrateCommand.self, PlacementsCommand.self, DoctorCommand.self, SimulateCommand.self,
            DemoCommand.self,
            TokenCommand.self, NetworkCommand.self, ImportSygnalCommand.self, DiscardPendingCommand.self,
            CompletionsCommand.self,
        ]
    )

    static func main() async {
        guard let topic = unknownTopic(in: Array(CommandLine.arguments.dropFirst())) else { return await main(nil) }
        exit(withError: ValidationError("There is no command \(topic)."))
    }

    /// The command that help is asked for, where there is none of its name: the parser itself would show the program's help.
    static func unknownTopic(in arguments: [String]) -> String? {
        guard arguments.first == "help" else { return nil }
        var known = configuration.subcommands
        for name in arguments.dropFirst() where !name.hasPrefix("-") && name != "help" {
            guard let command = known.first(where: { $0.configuration.commandName == name }) else { return name }
            known = command.configuration.subcommands
        }
        return nil
    }
}
