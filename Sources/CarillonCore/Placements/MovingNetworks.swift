import ServiceLifecycle
import Synchronization

/// The networks that are on their way to another placement, for those who work for many.
package final class MovingNetworks: Sendable {
    private struct State {
        var networks: Set<NetworkID> = []
        var listeners: [AsyncStream<Set<NetworkID>>.Continuation] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// These are, and no others.
    package func note(_ networks: Set<NetworkID>) {
        state.withLock { state in
            guard networks != state.networks else { return }
            state.networks = networks
            for listener in state.listeners { listener.yield(networks) }
        }
    }

    /// Those of now, and of each time that they are others.
    package func changes() -> AsyncStream<Set<NetworkID>> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Set<NetworkID>.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        state.withLock { state in
            if !state.networks.isEmpty { continuation.yield(state.networks) }
            state.listeners.append(continuation)
        }
        return stream
    }
}

/// Has whoever works for many networks leave alone those that move.
package struct MoveHalt: Service {
    private let moving: MovingNetworks?
    private let halt: @Sendable (Set<NetworkID>) async -> Void

    /// Calls `halt` with the networks that move, whenever they are others.
    package init(moving: MovingNetworks?, halt: @escaping @Sendable (Set<NetworkID>) async -> Void) {
        self.moving = moving
        self.halt = halt
    }

    /// Works until graceful shutdown.
    package func run() async throws {
        guard let moving else { return try await gracefulShutdown() }
        for await networks in moving.changes().cancelOnGracefulShutdown() { await halt(networks) }
    }
}
