import CarillonCore
import Foundation
import Subprocess

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// The push services, simulated in a process of their own.
struct SimulatorProcess: Sendable {
    /// How the simulator is started.
    struct Options: Sendable {
        /// How long every answer waits, in milliseconds.
        var delay = 0
        /// How many browsers there are.
        var subscriptions = 0
        /// Whether everything is checked, and ids and times are remembered.
        var remembersIdentifiers = false
    }

    /// How many requests arrived since the last reset.
    struct Count: Sendable, Equatable {
        /// All, whatever was answered.
        let total: Int
        /// Those that were accepted.
        let accepted: Int
    }

    /// The process.
    let process: ProcessStatus
    /// What it said when it was ready.
    let greeting: SimulatorGreeting
    private let orders: FileDescriptor
    private let answers: Arrivals

    private static let answerLimit = Duration.seconds(60)

    /// Starts a simulator and lends it; afterwards it is stopped.
    static func withSimulator<Value: Sendable>(
        _ options: Options,
        in workshop: Workshop,
        _ body: (SimulatorProcess) async throws -> Value
    ) async throws -> Value {
        guard let program = Bundle.main.executableURL?.path else { throw BenchmarkFailure("this program has no path") }
        var arguments = [SimulatorCommand.name, "--directory", workshop.newPath("simulator")]
        arguments += ["--delay", "\(options.delay)", "--subscriptions", "\(options.subscriptions)"]
        if options.remembersIdentifiers { arguments.append("--identifiers") }
        let answers = Arrivals()
        let input = try FileDescriptor.pipe()
        return try await LogReceiver.withReceiver(of: answers) { output in
            var platform = PlatformOptions()
            platform.createSession = true
            platform.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: .seconds(10))]
            return try await run(
                .path(FilePath(program)),
                arguments: Arguments(arguments),
                platformOptions: platform,
                input: .fileDescriptor(input.readEnd, closeAfterSpawningProcess: true),
                output: .fileDescriptor(output.writeEnd, closeAfterSpawningProcess: true),
                error: .fileDescriptor(.standardError, closeAfterSpawningProcess: false)
            ) { execution in
                do {
                    let greeting = try SimulatorGreeting(try await answer(in: answers))
                    let simulator = SimulatorProcess(
                        process: ProcessStatus(id: execution.processIdentifier.value),
                        greeting: greeting,
                        orders: input.writeEnd,
                        answers: answers
                    )
                    let value = try await body(simulator)
                    try input.writeEnd.close()
                    await execution.teardown(using: platform.teardownSequence)
                    return value
                } catch {
                    await execution.teardown(using: platform.teardownSequence)
                    throw error
                }
            }.closureResult
        }
    }

    /// The environment of a service that is to use it.
    var environment: [Environment.Key: String] {
        var environment: [Environment.Key: String] = [:]
        for (name, value) in greeting.environment { environment[Environment.Key(stringLiteral: name)] = value }
        return environment
    }

    /// How many requests arrived since the last reset.
    func count() async throws -> Count { try await order("\(SimulatorCommand.Order.count)") }

    /// Forgets what arrived.
    func reset() async throws { _ = try await order("\(SimulatorCommand.Order.reset)") }

    /// The ids of all notifications that were accepted, and when each had arrived, in µs since 1970.
    func arrivals(in workshop: Workshop) async throws -> [(id: String, at: Int64)] {
        let path = workshop.newPath("arrivals")
        _ = try await order("\(SimulatorCommand.Order.record) \(path)")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 2, let time = Int64(words[1]) else { return nil }
            return (String(words[0]), time)
        }
    }

    private func order(_ text: String) async throws -> Count {
        try orders.writeAll("\(text)\n".utf8)
        guard case .object(let members) = try await Self.answer(in: answers),
            case .number(let total)? = members["total"], case .number(let accepted)? = members["accepted"]
        else { throw BenchmarkFailure("the simulator did not understand '\(text)'") }
        return Count(total: total.integer ?? 0, accepted: accepted.integer ?? 0)
    }

    private static func answer(in answers: Arrivals) async throws -> JSONValue {
        try await within(answerLimit) {
            for await line in answers.stream { return try line.json }
            throw BenchmarkFailure("the simulator ended")
        }
    }
}
