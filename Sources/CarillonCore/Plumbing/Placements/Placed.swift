/// How long an answer of one of several placements is waited for, where others are asked as well.
private let placementPatience = Duration.seconds(2)

/// What somebody is about to do with what belongs to a network.
package enum PlacementAccess: Sendable {
    case reading, writing
}

/// A port of all placements: each call goes on to that of the network's own placement.
///
/// What concerns many networks is asked of each placement beside the others, so that one that is away delays nobody but its own.
package struct Placed<Port: Sendable>: Sendable {
    /// The placement of a network, where it can be used for that.
    package typealias Route = @Sendable (NetworkID, PlacementAccess) async throws -> PlacementName

    private let route: Route
    package let ports: [PlacementName: Port]

    package init(_ ports: [PlacementName: Port], route: @escaping Route) {
        self.ports = ports
        self.route = route
    }

    /// One port of all networks.
    package init(_ port: Port) {
        self.init([.home: port]) { _, _ in .home }
    }

    package func map<Other: Sendable>(_ transform: (Port) throws -> Other) rethrows -> Placed<Other> {
        Placed<Other>(try ports.mapValues(transform), route: route)
    }

    /// The port of a network's placement.
    ///
    /// - Throws: ``PlacementProblem``.
    package func of(_ network: NetworkID) async throws -> Port { try port(of: await route(network, .reading)) }

    /// The port of a network's placement, for whoever is about to change something.
    ///
    /// - Throws: ``PlacementProblem``, of which ``PlacementProblem/moving`` is for writers alone.
    package func toWrite(_ network: NetworkID) async throws -> Port { try port(of: await route(network, .writing)) }

    /// The port of a placement.
    ///
    /// - Throws: ``PlacementProblem/unavailable(_:reason:)`` where its URL is not configured.
    package func port(of name: PlacementName) throws(PlacementProblem) -> Port {
        guard let port = ports[name] else {
            throw PlacementProblem.unavailable(name, reason: "its URL is not configured here")
        }
        return port
    }

    /// Asks each placement for its part of what is asked for.
    ///
    /// - Parameters:
    ///   - items: What is asked for.
    ///   - network: Whose an item is.
    ///   - ask: Asks a placement for some of the items, which are in their order.
    /// - Returns: The answers, and the first error.
    package func parts<Item: Sendable, Answer: Sendable>(
        _ items: some Sequence<Item>,
        by network: (Item) -> NetworkID,
        _ ask: @escaping @Sendable (Port, [Item]) async throws -> Answer
    ) async -> (answers: [Answer], failure: (any Error)?) {
        var parts: [PlacementName: [Item]] = [:]
        var problem: (any Error)?
        for (network, items) in Dictionary(grouping: items, by: network) {
            do { parts[try await route(network, .reading), default: []] += items } catch { problem = problem ?? error }
        }
        let (answers, failure) = await gather(parts) { name, items in try await ask(self.port(of: name), items) }
        return (answers, problem ?? failure)
    }

    /// Asks all placements; the answers of those that give one.
    ///
    /// - Throws: The first error, where none does.
    package func each<Answer: Sendable>(
        _ ask: @escaping @Sendable (PlacementName, Port) async throws -> Answer
    ) async throws -> [Answer] {
        let (answers, failure) = await gather(ports, ask)
        if answers.isEmpty, let failure { throw failure }
        return answers
    }

    private func gather<Part: Sendable, Answer: Sendable>(
        _ parts: [PlacementName: Part],
        _ ask: @escaping @Sendable (PlacementName, Part) async throws -> Answer
    ) async -> (answers: [Answer], failure: (any Error)?) {
        await withTaskGroup(of: Result<Answer, any Error>.self) { tasks in
            for (name, part) in parts {
                tasks.addTask {
                    do {
                        // Each time anew: what was waited for one that is away is nothing that the others have to make up for.
                        return .success(try await withDeadline(placementPatience) { try await ask(name, part) })
                    } catch {
                        return .failure(error)
                    }
                }
            }
            var answers: [Answer] = []
            var failure: (any Error)?
            for await result in tasks {
                switch result {
                case .success(let answer): answers.append(answer)
                case .failure(let error): failure = failure ?? error
                }
            }
            return (answers, failure)
        }
    }
}

extension Placed where Port == PlacementName {
    /// One placement, where all networks are.
    package static var home: Self { Self(.home) }
}
