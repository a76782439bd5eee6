public import Foundation

extension CarillonClient {
    /// A device as the service knows it.
    public struct Device: Sendable, Hashable, Identifiable {
        /// Who delivers to a device. There may be others than those named here.
        public struct Provider: RawRepresentable, Sendable, Hashable, Decodable {
            /// The service's word.
            public let rawValue: String

            /// A provider.
            ///
            /// - Parameter rawValue: The service's word.
            public init(rawValue: String) {
                self.rawValue = rawValue
            }

            /// Apple Push Notification service.
            public static let apns = Provider(rawValue: "apns")
            /// Firebase Cloud Messaging.
            public static let fcm = Provider(rawValue: "fcm")
            /// A browser's push service.
            public static let webPush = Provider(rawValue: "webpush")
            /// Signed webhooks.
            public static let webhook = Provider(rawValue: "webhook")
        }

        /// Whether a device is used. There may be others than those named here.
        public struct State: RawRepresentable, Sendable, Hashable, Decodable {
            /// The service's word.
            public let rawValue: String

            /// A state.
            ///
            /// - Parameter rawValue: The service's word.
            public init(rawValue: String) {
                self.rawValue = rawValue
            }

            /// It gets notifications.
            public static let active = State(rawValue: "active")
            /// Its push service refuses it for a reason that may pass; ``Device/error`` says which.
            public static let quarantined = State(rawValue: "quarantined")
            /// Its push service says that it is gone. Registering it again makes it active.
            public static let unregistered = State(rawValue: "unregistered")
        }

        /// The id under which it was registered.
        public let id: String
        /// Whose it is.
        public let userID: String?
        /// Who delivers to it.
        public let provider: Provider
        /// The app it belongs to.
        public let appID: String?
        /// `production` or `sandbox`, for Apple's devices.
        public let environment: Registration.Environment?
        /// The end of its token, to recognise it by.
        public let token: String?
        /// Its language, if it has one of its own.
        public let locale: String?
        /// Whether it gets what is sent to everyone.
        public let broadcasts: Bool
        /// Whether it is used.
        public let state: State
        /// What its push service last complained of.
        public let error: String?
        /// When it was registered first.
        public let registeredAt: Date
        /// When the app registered it last.
        public let lastSeenAt: Date
    }
}

extension CarillonClient.Registration.Environment: Decodable {}

extension CarillonClient.Device: Decodable {
    private enum CodingKeys: String, CodingKey {
        case id, provider, environment, token, locale, broadcasts, state, error, registeredAt, lastSeenAt
        case userID = "userId"
        case appID = "appId"
    }
}
