import ArgumentParser

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension AsyncParsableCommand {
    /// Turns errors into lines on standard error and an exit status: 78 for the configuration, 1 for the rest.
    func reportingErrors(_ body: () async throws -> Void) async throws {
        // A reader of our output that has gone away must not end the process: writing fails instead.
        signal(SIGPIPE, SIG_IGN)
        var exit: ExitCode?
        do {
            try await body()
        } catch let error as ExitCode {
            exit = error
        } catch {
            let mistakes = (error as? ConfigurationError ?? ConfigurationError(error))?.mistakes
            for line in mistakes ?? ["\(error)"] { printToStandardError("carillon: \(line)") }
            exit = mistakes == nil ? .failure : ExitCode(ConfigurationError.exitStatus)
        }
        // What was said last is what matters most, but nobody has to read it for the process to end.
        await LogOutput.standardError.flush(within: .seconds(1))
        if let exit { throw exit }
    }
}

func printToStandardError(_ line: String) {
    LogOutput.standardError.write(Array("\(line)\n".utf8)) { Array("carillon: \($0) lines were lost\n".utf8) }
}
