import HTTPTypes

extension CarillonClient {
    /// What the signed-in user, or one of their devices, subscribes to.
    ///
    /// A tag is a named audience, such as `offers`. Users subscribe themselves to those that the network's admin declared with
    /// `selfService`; others are ``CarillonError/Code/forbidden``.
    public struct Tags: Sendable {
        let requester: Requester

        /// Subscribes the user, on all devices, or one device.
        ///
        /// - Parameters:
        ///   - tag: The tag's id.
        ///   - device: The id of the only device that is to hear of it. It subscribes for as long as it is this user's.
        /// - Throws: ``CarillonError``. Subscribing twice is no error.
        public func subscribe(to tag: String, onlyOn device: String? = nil) async throws {
            try await requester.perform(.init(method: .put, path: Self.path(tag, device)))
        }

        /// Ends a subscription.
        ///
        /// - Parameters:
        ///   - tag: The tag's id.
        ///   - device: The id of the device that subscribed by itself.
        /// - Throws: ``CarillonError``. That there is no such subscription is no error.
        public func unsubscribe(from tag: String, onlyOn device: String? = nil) async throws {
            try await requester.perform(.init(method: .delete, path: Self.path(tag, device)))
        }

        /// What the user subscribes to, or one of their devices by itself.
        ///
        /// - Parameter device: The device's id.
        /// - Returns: The ids of the tags, in their order.
        /// - Throws: ``CarillonError``.
        public func subscriptions(of device: String? = nil) async throws -> [String] {
            struct Subscription: Decodable { let tag: String }
            let path = device.map { ["devices", $0, "tags"] } ?? ["users", "me", "tags"]
            return try await requester.list(path, of: Subscription.self).map(\.tag)
        }

        private static func path(_ tag: String, _ device: String?) -> [String] {
            ["tags", tag] + (device.map { ["devices", $0] } ?? ["users", "me"])
        }
    }
}
