import Synchronization

/// All bindings and keys of the networks of all placements, none of them older than ``FaceCache``'s lifetime: what a placement that is
/// away has is not known, so that callers of its networks are told that, and nobody else is.
///
/// A placement that does not answer is waited for once. Until it has been heard of again nobody waits.
package final class PlacedFaceIndex: Sendable {
    /// A placement, and what is remembered of it.
    package struct Source: Sendable {
        let name: PlacementName
        let cache: FaceCache
        let problem: @Sendable () -> String?

        /// The placement `name`, which is not asked where there is a `problem`, in plain words.
        package init(_ name: PlacementName, _ cache: FaceCache, problem: @escaping @Sendable () -> String? = { nil }) {
            self.name = name
            self.cache = cache
            self.problem = problem
        }

        /// What it had when it was asked last, which is no more to be relied on.
        fileprivate func formerPart(because reason: String) -> Part {
            Part(list: cache.lastKnown?.list, problem: .unavailable(name, reason: reason))
        }
    }

    /// What a placement has.
    fileprivate struct Part: Equatable {
        var list: FaceList?
        /// Why it may be another by now.
        var problem: PlacementProblem?

        static func == (left: Part, right: Part) -> Bool {
            left.list?.version == right.list?.version && left.problem == right.problem
        }
    }

    private struct State {
        /// Those that were waited for in vain.
        var silent: Set<PlacementName> = []
        var parts: [Part] = []
        var lookup = FaceLookup(FaceIndex(.empty))
    }

    /// How long a placement is waited for.
    private static let patience = Duration.seconds(2)
    private static let silence = "it does not answer"

    private let sources: [Source]
    private let state = Mutex(State())

    /// An index of what these placements have.
    package init(_ sources: [Source]) {
        self.sources = sources
    }

    /// Finds bindings and keys as they are now.
    package func lookup() async -> FaceLookup {
        let known = sources.map { knownPart(of: $0) }
        // Mostly none has to be waited for.
        let parts = known.contains { $0 == nil } ? await completed(known) : known.compactMap(\.self)
        return state.withLock { state in
            if state.parts != parts { (state.parts, state.lookup) = (parts, Self.lookup(in: parts)) }
            return state.lookup
        }
    }

    /// What ``lookup()`` answered last, if it would answer the same without waiting or making anything.
    package func remembered() -> FaceLookup? {
        let parts = sources.compactMap { knownPart(of: $0) }
        guard parts.count == sources.count else { return nil }
        return state.withLock { $0.parts == parts ? $0.lookup : nil }
    }

    /// What can be said of a placement without waiting for it; `nil` where that is worth it.
    private func knownPart(of source: Source) -> Part? {
        if let problem = source.problem() { return source.formerPart(because: problem) }
        if let list = source.cache.fresh?.list {
            state.withLock { _ = $0.silent.remove(source.name) }
            return Part(list: list)
        }
        return state.withLock { $0.silent.contains(source.name) } ? source.formerPart(because: Self.silence) : nil
    }

    private func completed(_ known: [Part?]) async -> [Part] {
        await withTaskGroup(of: (Int, Part).self) { tasks in
            for (position, part) in known.enumerated() where part == nil {
                tasks.addTask { [source = sources[position]] in (position, await self.awaitedPart(of: source)) }
            }
            var parts = known.map { $0 ?? Part() }
            for await (position, part) in tasks { parts[position] = part }
            return parts
        }
    }

    private func awaitedPart(of source: Source) async -> Part {
        do {
            // Others may wait for the same reading, and for one that was under way before it.
            let reading = Task { try await source.cache.current()?.list ?? .empty }
            return Part(
                list: try await withDeadline(Self.patience, margin: .zero) { try await reading.sharedResult.get() }
            )
        } catch {
            // Who has given up has found out nothing.
            if !Task.isCancelled { state.withLock { _ = $0.silent.insert(source.name) } }
            return source.formerPart(because: Self.silence)
        }
    }

    /// Of a network in two lists the one that is of now counts.
    private static func lookup(in parts: [Part]) -> FaceLookup {
        let (former, current) = (parts.filter { $0.problem != nil }, parts.filter { $0.problem == nil })
        let lists = (former + current).compactMap(\.list)
        let index = FaceIndex(
            FaceList(
                version: FaceList.empty.version,
                bindings: lists.flatMap(\.bindings),
                keys: lists.flatMap(\.keys)
            )
        )
        guard let problem = former.first?.problem else { return FaceLookup(index) }
        let others = current.compactMap(\.list).flatMap { $0.bindings.map(\.networkID) + $0.keys.map(\.key.networkID) }
        return FaceLookup(index, lacking: FaceLookup.Gap(problem: problem, others: Set(others)))
    }
}
