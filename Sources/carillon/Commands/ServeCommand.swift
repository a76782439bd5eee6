import ArgumentParser
import Foundation
import Logging

/// `carillon serve`: runs the service until it is told to stop.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the service until SIGTERM or SIGINT.",
        discussion: """
            Standard output has one JSON line for each notification of the log provider; everything else goes to \
            standard error.
            """
    )

    func run() async throws {
        MemoryArenas.limit()
        DescriptorLimit.raise()
        try await reportingErrors {
            let settings = try Settings(environment: ProcessInfo.processInfo.environment)
            try await settings.checkPorts()
            let logger = Logger.standardError(settings)
            try await Composition(settings, logger: logger).run()
            logger.info("Carillon has stopped")
        }
    }
}
