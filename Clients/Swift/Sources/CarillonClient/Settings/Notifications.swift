public import Foundation
import HTTPTypes

extension CarillonClient {
    /// What a user wants to be notified of, everywhere and on all of their devices.
    public struct Settings: Sendable, Hashable {
        /// Whether they want anything at all.
        public let isEnabled: Bool
        /// What each module may do.
        public let modules: [Module: Permission]
        /// Until when nothing comes.
        public let mutedUntil: Date?
        /// When nothing comes, each day.
        public let quietHours: QuietHours?
        /// When this was last changed; `nil` for somebody who never changed anything.
        public let updatedAt: Date?
    }

    /// What the signed-in user wants to be notified of, everywhere and on all of their devices.
    ///
    /// A notification has to pass three levels: the network's, which the admin switches, this one, and the
    /// ``CarillonClient/Channel``'s. A change holds for everything that happens once it has been answered.
    public struct Notifications: Sendable {
        let requester: Requester

        private static let path = ["users", "me", "notifications"]

        /// What holds now.
        ///
        /// - Returns: The settings, with defaults for what was never set.
        /// - Throws: ``CarillonError``.
        public func settings() async throws -> Settings {
            try await requester.value(.init(method: .get, path: Self.path))
        }

        /// Lets notifications through.
        ///
        /// - Parameter modules: What these modules may do; the others stay as they are.
        /// - Returns: What holds now.
        /// - Throws: ``CarillonError``.
        @discardableResult
        public func enable(_ modules: [Module: Permission] = [:]) async throws -> Settings {
            var patch: [String: JSON] = ["enabled": .bool(true)]
            if !modules.isEmpty {
                let members = modules.map { module, permission in (module.rawValue, permission.patch) }
                patch["modules"] = .object(Dictionary(members) { first, _ in first })
            }
            return try await change(patch)
        }

        /// Stops all notifications, until ``enable(_:)``. What modules may do is kept.
        ///
        /// - Returns: What holds now.
        /// - Throws: ``CarillonError``.
        @discardableResult
        public func disable() async throws -> Settings {
            try await change(["enabled": .bool(false)])
        }

        /// Stops all notifications for a while. What would have come meanwhile does not come later.
        ///
        /// - Parameter date: Until when.
        /// - Returns: What holds now.
        /// - Throws: ``CarillonError``.
        @discardableResult
        public func mute(until date: Date) async throws -> Settings {
            try await change(["mutedUntil": JSON(date)])
        }

        /// Ends ``mute(until:)`` before its time.
        ///
        /// - Returns: What holds now.
        /// - Throws: ``CarillonError``.
        @discardableResult
        public func unmute() async throws -> Settings {
            try await change(["mutedUntil": .null])
        }

        /// Sets or ends the hours in which nothing comes, each day.
        ///
        /// - Parameter hours: When; `nil` means never.
        /// - Returns: What holds now.
        /// - Throws: ``CarillonError``.
        @discardableResult
        public func setQuietHours(_ hours: QuietHours?) async throws -> Settings {
            try await change(["quietHours": hours?.json ?? .null])
        }

        /// Puts everything back to where somebody begins: all is let through. Channels keep their settings.
        ///
        /// - Throws: ``CarillonError``.
        public func reset() async throws {
            try await requester.perform(.init(method: .delete, path: Self.path))
        }

        private func change(_ patch: [String: JSON]) async throws -> Settings {
            try await requester.value(.init(method: .patch, path: Self.path, body: .object(patch)))
        }
    }
}

extension CarillonClient.Settings: Decodable {
    private enum CodingKeys: String, CodingKey {
        case isEnabled = "enabled"
        case modules, mutedUntil, quietHours, updatedAt
    }

    /// Reads the document.
    ///
    /// - Parameter decoder: Where it is read from.
    /// - Throws: When it is another one.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        isEnabled = try container.decode(Bool.self, forKey: .isEnabled)
        let named = try container.decode([String: CarillonClient.Permission].self, forKey: .modules)
        modules = Dictionary(uniqueKeysWithValues: named.map { (CarillonClient.Module(rawValue: $0.key), $0.value) })
        mutedUntil = try container.decodeIfPresent(Date.self, forKey: .mutedUntil)
        quietHours = try container.decodeIfPresent(CarillonClient.QuietHours.self, forKey: .quietHours)
        updatedAt = try container.decodeIfPresent(Date.self, forKey: .updatedAt)
    }
}
