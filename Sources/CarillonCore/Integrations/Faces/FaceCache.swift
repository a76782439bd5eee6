package import Logging
import ServiceLifecycle

/// Knows the bindings and keys of all networks, for those who ask with every request of a face.
///
/// A key that is revoked at another replica is not known here any more within ``lifetime``, also while nothing can be announced.
package final class FaceCache: Service {
    /// How old what is known may be.
    package static let lifetime = Duration.seconds(2)

    private struct Known: Sendable {
        var list: FaceList
        var index: FaceIndex
    }

    private let list: WatchedList<Known>

    package init(
        store: any FaceListSource,
        announcements: Announcements = Announcements(),
        logger: Logger,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        list = WatchedList(
            .faces,
            lifetime: Self.lifetime,
            pollInterval: .seconds(1),
            rest: .seconds(15),
            announcements: announcements,
            logger: logger,
            now: now,
            read: { last in
                guard let list = try await store.faceList(unless: last?.list.version) else { return nil }
                return Known(list: list, index: FaceIndex(list))
            }
        )
    }

    /// Reads from time to time, and when told to, until graceful shutdown.
    package func run() async throws { try await list.run() }

    /// All bindings and keys.
    ///
    /// - Throws: What the store throws, when it has to be asked.
    package func index() async throws -> FaceIndex {
        try await list.current()?.index ?? FaceIndex(.empty)
    }

    /// The same as a list.
    package func faces() async throws -> FaceList { try await list.current()?.list ?? .empty }

    /// The same where nothing has to be asked; `nil` where what is known is too old.
    package var fresh: FaceList? { list.fresh?.list }

    /// All bindings and keys as they were known when they were last looked for, for those who cannot wait; `nil` before the first time.
    package var lastKnown: FaceList? { list.lastKnown?.list }

    /// Something was changed here: it is known when this returns, and soon to the other replicas.
    package func changed(in network: NetworkID) async { await list.changed(in: network) }
}
