import ArgumentParser
import Logging

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
        do {
            try await body()
        } catch let error as ConfigurationError {
            for mistake in error.mistakes { printToStandardError("carillon: \(mistake)") }
            throw ExitCode(ConfigurationError.exitStatus)
        } catch let error as ExitCode {
            throw error
        } catch {
            printToStandardError("carillon: \(error)")
            throw ExitCode.failure
        }
    }
}

/// Writes a line to standard error.
func printToStandardError(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}

extension Logger {
    /// The program's logger, as configured.
    static func standardError(_ settings: Settings) -> Logger {
        Logger(label: "carillon") { label in
            StandardErrorLogHandler(label: label, format: settings.logFormat, level: settings.logLevel)
        }
    }
}
