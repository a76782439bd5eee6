/// A server of a network's own that is told what happens, or asked about it (FACES section C1).
package struct Endpoint: Sendable, Equatable {
    /// The most endpoints of a network.
    package static let maximumCount = 16
    /// How long after it was made or enabled an endpoint begins: what is remembered of endpoints is never older.
    package static let onset = Duration.seconds(10)
    /// How long nothing may go through before an endpoint is disabled.
    package static let patience = Duration.seconds(72 * 3_600)

    /// Whether an endpoint is in use.
    package enum State: String, Sendable, CaseIterable {
        case enabled
        /// It is told nothing and not asked.
        case disabled
    }

    /// Its id, which we make; by their order endpoints are as old.
    package var id: EndpointID
    package var settings: EndpointSettings
    package var state: State
    package var stateReason: String?
    /// Since when it is in its state.
    package var stateAt: Timestamp
    package var createdAt: Timestamp
    package var lastSuccessAt: Timestamp?
    /// What went wrong last, after that.
    package var lastError: String?

    /// An endpoint that has just been made.
    package init(id: EndpointID, settings: EndpointSettings, createdAt: Timestamp) {
        self.id = id
        self.settings = settings
        self.createdAt = createdAt
        state = .enabled
        stateAt = createdAt
    }

    /// Takes it into use or out of use; nothing when it is already.
    package mutating func set(_ state: State, reason: String?, at now: Timestamp) {
        guard self.state != state else { return }
        self.state = state
        stateReason = reason
        stateAt = now
    }

    /// Whether what was accepted at a moment is its business, by the time.
    package func isInUse(at acceptance: Timestamp) -> Bool { state == .enabled && acceptance >= stateAt + Self.onset }
}

/// Names one endpoint inside a network.
package typealias EndpointID = Identifier<Endpoint>

/// What admins choose of an endpoint.
package struct EndpointSettings: Sendable, Equatable {
    package enum Format: String, Sendable, CaseIterable {
        /// The events as they were posted.
        case carillon
        /// What receivers understand that were built for Amity; see ``names(_:for:)``.
        case amity

        /// Whether there is a way to say in it that something of a type happened, or is about to.
        package func names(_ type: String, for mode: EndpointRole.Mode) -> Bool {
            switch (self, mode) {
            case (.carillon, _): true
            case (.amity, .observe): EventType(type).amityName != nil
            case (.amity, .intercept): EventType(type) == .messageSent
            }
        }
    }

    package var url: String
    package var role: EndpointRole
    package var events: EndpointEvents
    package var description: String?
    package var format: Format

    package init(
        url: String,
        role: EndpointRole,
        events: EndpointEvents,
        description: String? = nil,
        format: Format = .carillon
    ) {
        self.url = url
        self.role = role
        self.events = events
        self.description = description
        self.format = format
    }

    /// Whether it is told of events of that type, or asked about them.
    package func concerns(_ type: String) -> Bool {
        events.contains(type, for: role.mode) && format.names(type, for: role.mode)
    }

    /// The types that it is told of, or asked about.
    package var types: [String] { EndpointEvents.types(for: role.mode).filter(concerns).sorted() }
}

/// What is wanted of an endpoint.
package enum EndpointRole: Sendable, Equatable {
    /// It is told what happened.
    case observe(Observation)
    /// It is asked before anybody is notified.
    case intercept(Interception)

    /// The names of the two.
    package enum Mode: String, Sendable, CaseIterable {
        case observe
        case intercept
    }

    package var mode: Mode {
        switch self {
        case .observe: .observe
        case .intercept: .intercept
        }
    }

    /// What holds for one that is told.
    package struct Observation: Sendable, Equatable {
        /// For how long bodies are kept for a replay, in hours.
        package static let replayHours = 0...168
        package static let defaultReplayHours = 72
        private static let fewestRetryHours = 24

        /// For how long bodies are kept for a replay, in hours; with 0 none is kept that has arrived.
        package var replayHours: Int

        package init(replayHours: Int = Self.defaultReplayHours) {
            self.replayHours = replayHours
        }

        /// For how long a message is tried.
        package var retryTime: Duration { .seconds(max(replayHours, Self.fewestRetryHours) * 3_600) }
    }

    /// What holds for one that is asked.
    package struct Interception: Sendable, Equatable {
        /// How long it may take, in milliseconds.
        package static let timeouts = 100...5_000
        package static let defaultTimeout = 1_500

        /// What becomes of a notification about which there is no good answer.
        package enum Failure: String, Sendable, CaseIterable {
            case deliver
            case drop
        }

        /// How long its answer may take, from the look-up of its name to the last byte, in milliseconds.
        package var timeout: Int
        package var onFailure: Failure
        /// Whether it is told who is to be notified.
        package var includesRecipients: Bool

        package init(
            timeout: Int = Self.defaultTimeout,
            onFailure: Failure = .deliver,
            includesRecipients: Bool = true
        ) {
            self.timeout = timeout
            self.onFailure = onFailure
            self.includesRecipients = includesRecipients
        }
    }
}

extension Lane {
    /// The lane of an endpoint, which has one of its own.
    package init(_ endpoint: EndpointID, in network: NetworkID) {
        self.init(networkID: network, provider: .relay, appID: endpoint.rawValue)
    }

    /// The endpoint that messages go to; `nil` where a push service or a server sends to devices.
    package var endpoint: EndpointID? { provider == .relay ? EndpointID(trusted: appID) : nil }
}

extension Endpoint {
    package func isTold(of type: String, acceptedAt acceptance: Timestamp) -> Bool {
        guard case .observe = settings.role else { return false }
        return isInUse(at: acceptance) && settings.concerns(type)
    }

    /// Whether an event's body is kept for it: it is told of the event, or may be when it is in use again.
    fileprivate func keeps(_ type: String, acceptedAt acceptance: Timestamp) -> Bool {
        guard case .observe(let observation) = settings.role, settings.concerns(type) else { return false }
        if isInUse(at: acceptance) { return true }
        return observation.replayHours > 0 && (state == .disabled || acceptance >= createdAt + Self.onset)
    }
}

extension [Endpoint] {
    /// Whether an event's body is kept for any of them.
    package func keepBody(of type: String, acceptedAt acceptance: Timestamp) -> Bool {
        contains { $0.keeps(type, acceptedAt: acceptance) }
    }
}

extension EventType {
    /// What Amity's webhooks call it; `nil` for what they have no name for here (FACES section C4).
    package var amityName: String? {
        switch self {
        case .channelCreated: "channel.didCreate"
        case .memberJoined: "channel.didJoin"
        case .messageSent: "message.didCreate"
        default: nil
        }
    }
}
