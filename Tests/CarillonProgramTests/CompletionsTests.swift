import ArgumentParser
import Testing

@testable import carillon

@Suite struct CompletionsTests {
    @Test(arguments: CompletionsCommand.Shell.allCases)
    func `every shell's script completes the program by its name, with all of its verbs`(
        shell: CompletionsCommand.Shell
    ) throws {
        let parsed = try Carillon.parseAsRoot(["completions", shell.rawValue])
        let script = try #require(parsed as? CompletionsCommand).script
        let line: String =
            switch shell {
            case .bash: "complete -o filenames -F _carillon carillon"
            case .zsh: "#compdef carillon"
            case .fish: "complete -c 'carillon'"
            }
        #expect(script.contains(line), "\(script.prefix(400))")
        let verbs = [
            "serve", "migrate", "doctor", "simulate", "demo", "import-sygnal", "token", "discard-pending",
            "completions",
        ]
        for verb in verbs {
            #expect(script.contains(verb), "\(verb)")
        }
    }

    @Test func `a shell without completions is refused with those that have some`() {
        #expect {
            _ = try Carillon.parseAsRoot(["completions", "tcsh"])
        } throws: { error in
            let message = Carillon.fullMessage(for: error)
            return CompletionsCommand.Shell.allCases.allSatisfy { message.contains($0.rawValue) }
        }
    }
}
