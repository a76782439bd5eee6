import Synchronization

/// All bindings and keys of the networks of all placements, as they were known when each was looked for last.
///
/// Nobody waits for a placement that is away: nothing can be done for its networks either.
package final class PlacedFaceIndex: Sendable {
    private struct Known {
        var versions: [FaceList.Version?]
        var index: FaceIndex
    }

    private let caches: [FaceCache]
    private let known = Mutex<Known?>(nil)

    /// An index of what these caches know, a placement's each.
    package init(_ caches: [FaceCache]) {
        self.caches = caches
    }

    /// All bindings and keys.
    package func index() -> FaceIndex {
        let lists = caches.map(\.lastKnown)
        let versions = lists.map { $0?.version }
        return known.withLock { known in
            if let known, known.versions == versions { return known.index }
            let index = FaceIndex(
                FaceList(
                    version: FaceList.empty.version,
                    bindings: lists.flatMap { $0?.bindings ?? [] },
                    keys: lists.flatMap { $0?.keys ?? [] }
                )
            )
            known = Known(versions: versions, index: index)
            return index
        }
    }
}
