public import Foundation
import HTTPTypes

extension CarillonClient {
    /// What a user wants to hear of one channel.
    public struct ChannelSettings: Sendable, Hashable {
        /// Whether they want anything of it.
        public let isEnabled: Bool
        /// Whether they want only the messages that mention them.
        public let mentionsOnly: Bool
        /// Until when nothing of it comes.
        public let mutedUntil: Date?
        /// When this was last changed; `nil` where nothing ever was.
        public let updatedAt: Date?
    }

    /// One channel, as far as it concerns the signed-in user.
    ///
    /// Everything, mentions only, or nothing: ``enable()``, ``mentionsOnly()`` and ``disable()`` each replace what the others set.
    /// ``mute(until:)`` is beside them. Off means off: a mention does not break through a channel that is disabled or muted.
    public struct Channel: Sendable, Identifiable {
        /// The channel's id.
        public let id: String
        let requester: Requester

        /// What holds now.
        ///
        /// - Returns: The settings, with defaults for what was never set.
        /// - Throws: ``CarillonError``.
        public func settings() async throws -> ChannelSettings {
            try await requester.value(.init(method: .get, path: path))
        }

        /// Lets everything of this channel through.
        ///
        /// - Returns: What holds now.
        /// - Throws: ``CarillonError``.
        @discardableResult
        public func enable() async throws -> ChannelSettings {
            try await change(["enabled": .bool(true), "mentionsOnly": .bool(false)])
        }

        /// Lets nothing of this channel through.
        ///
        /// - Returns: What holds now.
        /// - Throws: ``CarillonError``.
        @discardableResult
        public func disable() async throws -> ChannelSettings {
            try await change(["enabled": .bool(false)])
        }

        /// Lets through only the messages of this channel that mention the user.
        ///
        /// - Returns: What holds now.
        /// - Throws: ``CarillonError``.
        @discardableResult
        public func mentionsOnly() async throws -> ChannelSettings {
            try await change(["enabled": .bool(true), "mentionsOnly": .bool(true)])
        }

        /// Lets nothing of this channel through for a while. What would have come meanwhile does not come later.
        ///
        /// - Parameter date: Until when.
        /// - Returns: What holds now.
        /// - Throws: ``CarillonError``.
        @discardableResult
        public func mute(until date: Date) async throws -> ChannelSettings {
            try await change(["mutedUntil": JSON(date)])
        }

        /// Ends ``mute(until:)`` before its time.
        ///
        /// - Returns: What holds now.
        /// - Throws: ``CarillonError``.
        @discardableResult
        public func unmute() async throws -> ChannelSettings {
            try await change(["mutedUntil": .null])
        }

        /// Puts everything of this channel back to where somebody begins: all is let through.
        ///
        /// - Throws: ``CarillonError``.
        public func reset() async throws {
            try await requester.perform(.init(method: .delete, path: path))
        }

        private var path: [String] { ["users", "me", "channels", id, "notifications"] }

        private func change(_ patch: [String: JSON]) async throws -> ChannelSettings {
            try await requester.value(.init(method: .patch, path: path, body: .object(patch)))
        }
    }
}

extension CarillonClient.ChannelSettings: Decodable {
    private enum CodingKeys: String, CodingKey {
        case isEnabled = "enabled"
        case mentionsOnly, mutedUntil, updatedAt
    }
}
