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
}
