public import Foundation

extension CarillonClient {
    /// An address at which a device can be reached, and the language in which it wants to be told.
    public struct Registration: Sendable, Hashable {
        /// Which of Apple's push services knows a token.
        public struct Environment: RawRepresentable, Sendable, Hashable {
            /// The service's word.
            public let rawValue: String

            /// An environment.
            ///
            /// - Parameter rawValue: The service's word.
            public init(rawValue: String) {
                self.rawValue = rawValue
            }

            /// Apps from the App Store and TestFlight.
            public static let production = Environment(rawValue: "production")
            /// Apps that Xcode runs: the entitlement `aps-environment` says `development`.
            public static let sandbox = Environment(rawValue: "sandbox")
        }

        /// What the service is told of the address.
        private(set) var address: [String: JSON]
        /// The language, as BCP 47 writes it.
        let locale: String?
        /// Whether it gets what is sent to everyone.
        var broadcasts = true

        /// An iPhone, an iPad, a Mac or a watch.
        ///
        /// - Parameters:
        ///   - token: What `application(_:didRegisterForRemoteNotificationsWithDeviceToken:)` was given.
        ///   - appID: The app's bundle identifier.
        ///   - environment: Where the token is known.
        ///   - locale: The language for this device: the one the app runs in unless another one is given; with `nil` the
        ///     user's own.
        /// - Returns: The registration.
        public static func apns(
            token: Data,
            appID: String,
            environment: Environment,
            locale: Locale? = .current
        ) -> Registration {
            let digits = Array("0123456789abcdef")
            let hex = String(token.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
            return apns(token: hex, appID: appID, environment: environment, locale: locale)
        }

        /// An iPhone, an iPad, a Mac or a watch.
        ///
        /// - Parameters:
        ///   - token: The device token in hexadecimal.
        ///   - appID: The app's bundle identifier.
        ///   - environment: Where the token is known.
        ///   - locale: The language for this device: the one the app runs in unless another one is given; with `nil` the
        ///     user's own.
        /// - Returns: The registration.
        public static func apns(
            token: String,
            appID: String,
            environment: Environment,
            locale: Locale? = .current
        ) -> Registration {
            Registration(
                [
                    "provider": "apns", "token": token, "appId": appID, "environment": environment.rawValue,
                ],
                locale
            )
        }

        /// An app with Firebase Cloud Messaging.
        ///
        /// - Parameters:
        ///   - token: The registration token that Firebase answered.
        ///   - appID: The id under which the network's admin stored Google's service account.
        ///   - locale: The language for this device: the one the app runs in unless another one is given; with `nil` the
        ///     user's own.
        /// - Returns: The registration.
        public static func fcm(token: String, appID: String, locale: Locale? = .current) -> Registration {
            Registration(["provider": "fcm", "token": token, "appId": appID], locale)
        }

        /// A browser, or a web view, that subscribed with ``CarillonClient/webPushKey()``.
        ///
        /// - Parameters:
        ///   - endpoint: The subscription's `endpoint`.
        ///   - p256dh: Its key `p256dh`, in base64url.
        ///   - auth: Its key `auth`, in base64url.
        ///   - locale: The language for this browser; with `nil` the user's own.
        /// - Returns: The registration.
        public static func webPush(
            endpoint: URL,
            p256dh: String,
            auth: String,
            locale: Locale? = nil
        ) -> Registration {
            var registration = Registration(["provider": "webpush"], locale)
            registration.address["subscription"] = .object([
                "endpoint": .string(endpoint.absoluteString),
                "keys": .object(["p256dh": .string(p256dh), "auth": .string(auth)]),
            ])
            return registration
        }

        /// A server that takes notifications as signed webhooks; with an admin key only.
        ///
        /// `CarillonWebhooks` verifies what it gets.
        ///
        /// - Parameters:
        ///   - url: Where it takes them.
        ///   - locale: The language; with `nil` the user's own.
        /// - Returns: The registration.
        public static func webhook(_ url: URL, locale: Locale? = nil) -> Registration {
            Registration(["provider": "webhook", "url": url.absoluteString], locale)
        }

        /// The same device, but without what is sent to everyone.
        ///
        /// - Returns: The registration.
        public func withoutBroadcasts() -> Registration {
            var registration = self
            registration.broadcasts = false
            return registration
        }

        private init(_ address: [String: String], _ locale: Locale?) {
            self.address = address.mapValues(JSON.string)
            self.locale = locale?.languageTag
        }

        /// The body of the request.
        func body(for user: String?) -> JSON {
            var body = address
            if let locale { body["locale"] = .string(locale) }
            if let user { body["userId"] = .string(user) }
            if !broadcasts { body["broadcasts"] = .bool(false) }
            return .object(body)
        }
    }
}

extension Locale {
    /// The language tag (BCP 47) without preferences such as calendars, which the service has no use for.
    fileprivate var languageTag: String? {
        let tag = identifier(.bcp47)
        let language = tag.range(of: "-u-").map { String(tag[..<$0.lowerBound]) } ?? tag
        return language.isEmpty ? nil : language
    }
}
