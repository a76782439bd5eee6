package import CarillonCore

/// A face some of whose posts are taken on their event loops (decision 0043).
package protocol LoopFace: Face {
    /// The most bytes of posts to a target that are read on an event loop, which everybody else's connections wait for; `nil` where none is.
    func largestPost(to target: String) -> Int?

    /// Reads a post, and counts it; `nil`, without having counted it, for whatever is unusual or not right.
    func post(_ unread: UnreadPost) -> (any FacePost)?

    /// The events that posts to a network come to, one element for each post, in order; `nil` for those that have to go the way of all
    /// other requests.
    ///
    /// - Throws: What prevents that any of them is known.
    func events(of posts: [any FacePost], in network: NetworkID) async throws -> [[ParsedEvent]?]
}

/// What a face is posted, with nothing unusual in its head.
package struct UnreadPost {
    /// The path, and what stands behind it.
    package let target: String
    package let body: [UInt8]
    /// Where it comes from.
    package let client: IPAddress

    package init(target: String, body: [UInt8], client: IPAddress) {
        self.target = target
        self.body = body
        self.client = client
    }
}

/// A post to a face: its sender known, read, and counted.
package protocol FacePost: Sendable {
    var networkID: NetworkID { get }
    /// How many events it may come to.
    var size: Int { get }
    /// The pattern of its address.
    var route: String { get }
    /// What metrics and admins know it by.
    var operation: String { get }
    /// What its sender is told when its events are durable.
    var answer: JSONValue { get }

    /// Counts that its events are durable.
    func noteAccepted()
    /// Gives back what it was counted for.
    func giveBack()
}
