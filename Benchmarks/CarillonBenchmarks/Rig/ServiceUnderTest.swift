import CarillonCore
import Subprocess

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// A running `carillon serve`, in a process of its own.
struct ServiceUnderTest: Sendable {
    /// The process.
    let process: ProcessStatus
    /// The port of the public API.
    let port: Int
    /// The public API, as the operator.
    let `operator`: HTTPClient
    /// Health and metrics.
    let management: HTTPClient
    /// What it says.
    let log: ServiceLog

    private static let startLimit = Duration.seconds(60)
    private static let stopLimit = Duration.seconds(30)

    /// Starts the service and lends it; afterwards it is stopped as an operator would.
    ///
    /// The `log` provider writes to a file of its own, unless `output` is given; `environment` has settings besides those of
    /// the cluster, and `launcher` is a program that becomes the service, with its arguments.
    /// - Throws: What `body` throws; ``BenchmarkFailure`` with the end of the service's log when it does not start or
    ///   does not stop as it should.
    static func withService<Value: Sendable>(
        on cluster: Cluster,
        output: FileDescriptor? = nil,
        environment: [Environment.Key: String] = [:],
        launcher: [String] = [],
        _ body: (ServiceUnderTest) async throws -> Value
    ) async throws -> Value {
        let log = ServiceLog(path: cluster.workshop.newPath("service.log"))
        let output = try output ?? NotificationFile(path: cluster.workshop.newPath("notifications.ndjson")).create()
        var options = PlatformOptions()
        // Out of reach of the terminal's Ctrl-C: the benchmark stops it when it is done with it.
        options.createSession = true
        options.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: stopLimit)]
        let result = try await run(
            launcher.first.map { .name($0) } ?? .path(FilePath(cluster.workshop.program)),
            arguments: Arguments(
                launcher.dropFirst() + (launcher.isEmpty ? [] : [cluster.workshop.program]) + ["serve"]
            ),
            environment: .custom(cluster.environment.merging(environment) { $1 }),
            workingDirectory: FilePath(cluster.workshop.resources),
            platformOptions: options,
            input: .none,
            output: .fileDescriptor(output, closeAfterSpawningProcess: true),
            error: .fileDescriptor(try FileDescriptor.newFile(at: log.path), closeAfterSpawningProcess: true)
        ) { execution in
            do {
                let process = ProcessStatus(id: execution.processIdentifier.value)
                let value = try await body(try await start(process, log: log, cluster: cluster))
                await execution.teardown(using: options.teardownSequence)
                return value
            } catch {
                await execution.teardown(using: options.teardownSequence)
                throw error
            }
        }
        guard result.terminationStatus == .exited(0) else {
            throw BenchmarkFailure("the service ended with \(result.terminationStatus):\n\(log.tail)")
        }
        return result.closureResult
    }

    /// Waits for the service's own word that it is ready, and until it can use all placements.
    private static func start(
        _ process: ProcessStatus,
        log: ServiceLog,
        cluster: Cluster
    ) async throws -> ServiceUnderTest {
        let deadline = ContinuousClock.now + startLimit
        while ContinuousClock.now < deadline, process.isRunning {
            if let ports = log.ports {
                let service = ServiceUnderTest(
                    process: process,
                    port: ports.open,
                    operator: HTTPClient(port: ports.open, bearer: cluster.secrets.operatorToken),
                    management: HTTPClient(port: ports.management),
                    log: log
                )
                if try await service.usesAllPlacements { return service }
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw BenchmarkFailure("the service did not start:\n\(log.tail)")
    }

    private var usesAllPlacements: Bool {
        get async throws {
            let answer = try await management.send(HTTPRequest(path: "/health/ready"))
            guard answer.status == 200, case .object(let members) = try answer.json else { return false }
            return members["placements"] == nil
        }
    }
}
