import ArgumentParser

/// `carillon completions`: prints what a shell needs to complete the program's verbs and options.
struct CompletionsCommand: ParsableCommand {
    enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash
        case zsh
        case fish

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

    var script: String { Carillon.completionScript(for: shell.generator) }

    func run() { print(script) }
}
