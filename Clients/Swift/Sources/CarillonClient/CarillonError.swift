public import Foundation

/// Why something that was asked of Carillon did not happen.
///
/// ```swift
/// do {
///     try await carillon.register(registration, as: installationID)
/// } catch let error as CarillonError where error.code == .deviceTaken {
///     …
/// } catch let error as CarillonError where error.isTransient {
///     …                                   // it was tried as often as the policy says; try again later
/// }
/// ```
public struct CarillonError: Error, Sendable {
    /// What went wrong: the last part of the problem's `type`, or a word of this library's own.
    ///
    /// There may be others than those named here.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The word, such as `device-taken`.
        public let rawValue: String

        /// A word.
        ///
        /// - Parameter rawValue: The word.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }

    /// What went wrong.
    public let code: Code
    /// The status of the answer, if there was one.
    public let status: Int?
    /// What the service says about it (RFC 9457), if it was the service that answered.
    public let problem: CarillonClient.Problem?
    /// The answer's `x-request-id`, by which the operator finds it in the logs.
    public let requestID: String?
    /// How long the service asked to wait.
    public let retryAfter: Duration?
    /// What the network, the token's source or the decoder complained of.
    public let underlyingError: (any Error)?

    /// An error by its parts, for tests of your own.
    ///
    /// - Parameters:
    ///   - code: What went wrong.
    ///   - status: The status of the answer.
    ///   - problem: What the service says about it.
    ///   - requestID: The answer's `x-request-id`.
    ///   - retryAfter: How long the service asked to wait.
    ///   - underlyingError: What somebody else complained of.
    public init(
        _ code: Code,
        status: Int? = nil,
        problem: CarillonClient.Problem? = nil,
        requestID: String? = nil,
        retryAfter: Duration? = nil,
        underlyingError: (any Error)? = nil
    ) {
        self.code = code
        self.status = status
        self.problem = problem
        self.requestID = requestID
        self.retryAfter = retryAfter
        self.underlyingError = underlyingError
    }

    /// Whether the same call may work later, without anything being changed.
    public var isTransient: Bool {
        switch status {
        case .some(let status): [408, 429, 502, 503, 504].contains(status)
        case .none: code == .unreachable || code == .timedOut
        }
    }
}

extension CarillonError.Code {
    /// Nobody answered: no network, no such host, a connection that was lost.
    public static let unreachable = Self(rawValue: "unreachable")
    /// Nobody answered in time.
    public static let timedOut = Self(rawValue: "timed-out")
    /// The closure that answers tokens threw; ``CarillonError/underlyingError`` is what.
    public static let noToken = Self(rawValue: "no-token")
    /// The answer is not Carillon's: a proxy's, or another service's.
    public static let unexpectedAnswer = Self(rawValue: "unexpected-answer")
    /// Nothing was sent: an id is empty, `.` or `..`, or the service's address is none.
    public static let invalidRequest = Self(rawValue: "invalid-request")

    /// The token is refused, and the one after it as well (401).
    public static let unauthorized = Self(rawValue: "unauthorized")
    /// The token is good, but not for this (403).
    public static let forbidden = Self(rawValue: "forbidden")
    /// There is no such thing, or it is somebody else's (404).
    public static let notFound = Self(rawValue: "not-found")
    /// The device is in use by another user, at another address (409).
    public static let deviceTaken = Self(rawValue: "device-taken")
    /// There are as many devices, channels or subscriptions as the network lets there be (409).
    public static let limitReached = Self(rawValue: "limit-reached")
    /// That was too much at once (429).
    public static let tooManyRequests = Self(rawValue: "too-many-requests")
    /// The service cannot do anything at the moment (503).
    public static let serviceUnavailable = Self(rawValue: "service-unavailable")
}

extension CarillonError: CustomStringConvertible, LocalizedError {
    /// The code, the status and the service's own words; neither tokens nor anything of the request.
    public var description: String {
        var text = code.rawValue
        if let status { text += " (\(status))" }
        if let words = problem?.detail ?? problem?.title { text += ": \(words)" }
        for place in problem?.errors ?? [] { text += "; \(place.pointer): \(place.detail)" }
        return text
    }

    /// The same as ``description``: for developers, not for users.
    public var errorDescription: String? { description }
}

extension CarillonClient {
    /// What the service says about a request that it did not do (RFC 9457, `application/problem+json`).
    public struct Problem: Sendable, Hashable {
        /// One place of the body that is wrong.
        public struct Place: Sendable, Hashable, Decodable {
            /// Where: a JSON Pointer (RFC 6901) into the body.
            public let pointer: String
            /// What is wrong there.
            public let detail: String
        }

        /// What became of a change that the service could not confirm.
        public struct Outcome: RawRepresentable, Hashable, Sendable, Decodable {
            /// The service's word.
            public let rawValue: String

            /// A word of the service's.
            ///
            /// - Parameter rawValue: The word.
            public init(rawValue: String) {
                self.rawValue = rawValue
            }

            /// Nothing of it took effect.
            public static let nothingChanged = Outcome(rawValue: "nothing changed")
            /// It may have taken effect.
            public static let unknown = Outcome(rawValue: "unknown")
        }

        /// What kind of problem it is, such as `/problems/limit-reached`.
        public let type: String
        /// The same words for every problem of this type.
        public let title: String
        /// The status of the answer.
        public let status: Int
        /// What is wrong this time.
        public let detail: String?
        /// What is known of the change, in a 503.
        public let outcome: Outcome?
        /// Every place of the body that is wrong.
        public let errors: [Place]

        /// The last part of the type.
        var code: CarillonError.Code {
            CarillonError.Code(rawValue: type.split(separator: "/").last.map(String.init) ?? type)
        }
    }
}

extension CarillonClient.Problem: Decodable {
    private enum CodingKeys: CodingKey {
        case type, title, status, detail, outcome, errors
    }

    /// Reads a problem document.
    ///
    /// - Parameter decoder: Where it is read from.
    /// - Throws: When it is none.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        type = try container.decode(String.self, forKey: .type)
        title = try container.decode(String.self, forKey: .title)
        status = try container.decode(Int.self, forKey: .status)
        detail = try container.decodeIfPresent(String.self, forKey: .detail)
        outcome = try container.decodeIfPresent(Outcome.self, forKey: .outcome)
        errors = try container.decodeIfPresent([Place].self, forKey: .errors) ?? []
    }
}
