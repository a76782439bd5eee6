/// The sources of networks and their secrets, which are encrypted at rest.
package protocol SourceStore: Sendable {
    func sources(of network: NetworkID) async throws -> [Source]
    /// Stores a source, or gives one that there is new settings: it is asked at once then, as one that has not failed.
    ///
    /// - Returns: The source; `isNew` when there was none of this id.
    /// - Throws: ``TooManySources`` beyond ``Source/maximumCount``; nothing is stored then.
    func putSource(
        _ id: SourceID,
        _ settings: SourceSettings,
        secret: WebhookSecret,
        of network: NetworkID
    ) async throws -> (source: Source, isNew: Bool)
    /// Removes a source; `false` when there is none. What it answers meanwhile is not stored.
    func deleteSource(_ id: SourceID, of network: NetworkID) async throws -> Bool
}

package struct TooManySources: Error, Sendable, Equatable {
    package init() {}
}

/// The sources of all networks, for those who ask them.
package protocol SourceQueue: Sendable {
    /// Takes sources that it is time to ask and that nobody is asking, the longest waiting first.
    ///
    /// - Parameters:
    ///   - limit: How many at most.
    ///   - share: How many of one network may be asked at a time.
    ///   - busy: How many of each network are being asked here.
    /// - Returns: Those taken, each for ``ClaimedSource/leaseDuration``.
    /// - Throws: What the store throws.
    func claimSources(limit: Int, share: Int, busy: [NetworkID: Int]) async throws -> [ClaimedSource]
    /// How long it is until it is time to ask the first source, or until the first lease ends; `nil` when there is none.
    func nextDue() async throws -> Duration?
    /// Stores a page in one transaction: its events, as ``EventInbox/accept(_:lockWait:)`` does, with the cursor; and holds the
    /// source for another ``ClaimedSource/leaseDuration``.
    ///
    /// - Returns: What became of each event, in order; `nil` when the source is not held any more, and then nothing is stored.
    func accept(_ page: SourcePage, from source: ClaimedSource) async throws -> [Acceptance]?
    /// Lets go a source that is to be asked again after a wait. Nothing happens when it is not held any more.
    func release(_ source: ClaimedSource, after wait: Duration, _ outcome: PollOutcome) async throws
}

/// What asking a source came to.
package enum PollOutcome: Sendable, Equatable {
    /// It answered: its failures are over.
    case succeeded
    /// It has failed once more, for a reason in a few words, without an address.
    case failed(String)
    /// It was not its fault that nothing came of it, but for a reason in a few words; its failures stay.
    case deferred(String)
    /// It was not asked.
    case undecided
}
