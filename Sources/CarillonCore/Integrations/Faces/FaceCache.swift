package import Logging

/// Knows the bindings and keys of all networks, for those who ask with every request of a face.
///
/// A key that is revoked at another replica is not known here any more within ``lifetime``, also while nothing can be announced.
package typealias FaceCache = WatchedList<IndexedFaces>

/// All bindings and keys, and where to find one of them.
package struct IndexedFaces: Sendable {
    let list: FaceList
    package let index: FaceIndex
}

extension WatchedList where List == IndexedFaces {
    /// How old what is known may be.
    package static var lifetime: Duration { .seconds(2) }

    package convenience init(
        store: any FaceListSource,
        announcements: Announcements = Announcements(),
        logger: Logger,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.init(
            .faces,
            lifetime: Self.lifetime,
            pollInterval: .seconds(1),
            rest: .seconds(15),
            announcements: announcements,
            logger: logger,
            now: now,
            read: { last in
                guard let list = try await store.faceList(unless: last?.list.version) else { return nil }
                return IndexedFaces(list: list, index: FaceIndex(list))
            }
        )
    }

    /// All bindings and keys.
    ///
    /// - Throws: What the store throws, when it has to be asked.
    package func index() async throws -> FaceIndex {
        try await current()?.index ?? FaceIndex(.empty)
    }
}
