import ArgumentParser

/// `carillon completions`: prints what a shell needs to complete the program's verbs and options.
struct CompletionsCommand: ParsableCommand {
    /// A shell whose completions can be made.
    enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash
        case zsh
        case fish

        /// The parser's name for it.
        fileprivate var generator: CompletionShell {
            switch self {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        }
    }

    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print the completions of a shell.",
        discussion: """
            They are for a program of the name carillon that is on the path: \
            carillon completions bash > /usr/share/bash-completion/completions/carillon
            """
    )

    @Argument(help: "The shell.")
    var shell: Shell

    /// The script that the shell reads.
    var script: String { Carillon.completionScript(for: shell.generator) }

    func run() { print(script) }
}
