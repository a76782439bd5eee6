import CarillonCore
import HTTPTypes
import Hummingbird
import Logging
import Synchronization

/// Writes lines about requests, as many as their callers may cause.
///
/// The operator has all that there are to write, each network so many, and everybody else so many of each status and route: what
/// nobody can make up, so that the keys are few. What is left out is counted, and the number written.
final class RequestLog: Sendable {
    /// How many lines there may be.
    struct Limits: Sendable {
        /// Those of strangers, of each status and route.
        var ofStrangers: Int
        var ofNetwork: Int
        var window: Duration

        static let ofAnswers = Limits(ofStrangers: 10, ofNetwork: 6_000, window: .seconds(60))
    }

    private enum Owner: Hashable {
        case strangers(message: String, status: Int, route: String)
        case network(NetworkID, message: String)
    }

    private struct State {
        var allowances: [Owner: LineAllowance] = [:]
        /// With how many those are looked for that nobody needs.
        var limit = RequestLog.capacity
    }

    private static let capacity = 4_096

    private let limits: Limits
    private let state = Mutex(State())

    init(_ limits: Limits) {
        self.limits = limits
    }

    /// Writes the line that each answer has: successes are `debug`, what callers did wrong is `info`, and what we did wrong is `error`;
    /// answers about health are `debug`, whatever they say.
    func answered(
        _ request: Request,
        _ status: HTTPResponse.Status,
        _ context: CarillonRequestContext,
        after duration: Duration
    ) {
        let level: Logger.Level =
            switch status.code {
            // Asked for every few seconds by whoever watches, and answered by what was logged when it began.
            case _ where context.routeTemplate.hasPrefix("/health/"): .debug
            case ..<400: .debug
            case ..<500: .info
            default: .error
            }
        write(
            "Request answered",
            at: level,
            status: status,
            context,
            context.description(of: request, answered: status)
                .merging(["duration.ms": "\(duration.wholeMilliseconds)"]) { $1 }
        )
    }

    /// Writes a line about an answer, or counts it.
    func write(
        _ message: Logger.Message,
        at level: Logger.Level,
        status: HTTPResponse.Status,
        _ context: CarillonRequestContext,
        _ metadata: @autoclosure () -> Logger.Metadata
    ) {
        let logger = context.logger
        guard logger.logLevel <= level else { return }
        switch context.caller.proven {
        case .operator: logger.log(level: level, message, metadata: metadata())
        case .network(let network):
            allowance(of: .network(network, message: message.description), limits.ofNetwork)
                .write(message, at: level, metadata(), about: ["network": "\(network)"], to: logger)
        case nil:
            writeOfStranger(message, at: level, status: status, route: context.routeTemplate, metadata(), to: logger)
        }
    }

    /// Writes a line about somebody who has proved nothing, or counts it.
    func writeOfStranger(
        _ message: Logger.Message,
        at level: Logger.Level,
        status: HTTPResponse.Status,
        route: String,
        _ metadata: @autoclosure () -> Logger.Metadata,
        to logger: Logger
    ) {
        guard logger.logLevel <= level else { return }
        let owner = Owner.strangers(message: message.description, status: status.code, route: route)
        let kind: Logger.Metadata = ["http.status": "\(status.code)", "http.route": "\(route)"]
        allowance(of: owner, limits.ofStrangers).write(message, at: level, metadata(), about: kind, to: logger)
    }

    private func allowance(of owner: Owner, _ lines: Int) -> LineAllowance {
        state.withLock { state in
            if let allowance = state.allowances[owner] { return allowance }
            if state.allowances.count >= state.limit {
                state.allowances = state.allowances.filter { !$0.value.isUnused }
                state.limit = max(Self.capacity, 2 * state.allowances.count)
            }
            let allowance = LineAllowance(lines: lines, within: limits.window)
            state.allowances[owner] = allowance
            return allowance
        }
    }
}

extension LineAllowance {
    /// Writes a line, or counts it: how many were left out, and what these have in common (`kind`), is written when the window is over.
    func write(
        _ message: Logger.Message,
        at level: Logger.Level,
        _ metadata: @autoclosure () -> Logger.Metadata,
        about kind: Logger.Metadata,
        to logger: Logger
    ) {
        switch take() {
        case .write: logger.log(level: level, message, metadata: metadata())
        case .omitFirst:
            var logger = logger
            logger[metadataKey: "request.id"] = nil
            logger[metadataKey: TraceContext.metadataKey] = nil
            let same = message.description
            Task { [logger] in
                try? await Task.sleep(for: window)
                var metadata = kind
                metadata["same"] = "\(same)"
                metadata["count"] = "\(takeOmitted())"
                logger.log(level: level, "More of the same was not logged", metadata: metadata)
            }
        case .omit: break
        }
    }
}

extension CarillonRequestContext {
    /// What lines say of every request: its route and never its path, query or body, which name people and may hold secrets.
    func description(of request: Request, answered status: HTTPResponse.Status) -> Logger.Metadata {
        [
            "http.method": "\(request.method.rawValue)",
            "http.route": "\(routeTemplate)",
            "http.status": "\(status.code)",
            "network": "\(parameters.get("network") ?? caller.network?.rawValue ?? "")",
            "client.address": "\(clientAddress?.description ?? "unknown")",
        ]
    }

    /// The route with its placeholders, such as `/v1/networks/{network}/events`; `none` for unknown paths.
    var routeTemplate: String {
        guard let path = endpointPath, path.first == "/" else { return "none" }
        return path
    }
}
