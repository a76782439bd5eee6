import Foundation
import NIOCore
import Synchronization

/// What every service of a simulator has: its disturbances, who has gone, and where to write down what it got.
struct Scene: Sendable {
    let service: SimulatedService
    let detail: SimulatorConfiguration.Detail
    let traffic: Traffic
    let departures: Departures
    let firstRequests: FirstRequests
    let received: ReceivedNotifications

    /// What a request gets before it is looked at; `nil` to look at it.
    func interruption(_ condition: Traffic.Condition) -> Reply? {
        switch condition.verdict {
        case .refusal: Reply(manner: .refusal)
        case .silence: Reply(manner: .silence)
        case .normal, .storm: nil
        }
    }

    /// Whether a token's wish to fail holds for this request.
    func holds<Refusal>(_ behaviour: Behaviour<Refusal>, for token: String) -> Bool {
        !behaviour.isOnce || firstRequests.isFirst(token)
    }

    /// Remembers a notification with the answer it got, unless the client knows that it was not processed.
    ///
    /// `describe` adds what else is known: with text and payload only when they are wanted.
    func record(
        _ token: String,
        _ reply: Reply,
        reason: String?,
        at time: Duration,
        describe: (inout ReceivedNotification, _ withText: Bool) -> Void
    ) {
        guard !reply.isUnprocessed else { return }
        var notification = ReceivedNotification(
            service: service,
            receivedAt: time,
            deviceToken: token,
            status: reply.status,
            reason: reason
        )
        describe(&notification, detail == .everything)
        received.add(notification)
    }
}

/// The devices that have gone since the start, and since when.
final class Departures: Sendable {
    private let times = Mutex<[String: Duration]>([:])

    /// The device with this token, or this endpoint of Web Push, has gone.
    func add(_ token: String, at time: Duration) {
        times.withLock { $0[token] = time }
    }

    func remove(_ token: String) {
        times.withLock { $0[token] = nil }
    }

    func time(of token: String) -> Duration? {
        times.withLock { times in times.isEmpty ? nil : times[token] }
    }
}

/// Remembers to which tokens a request has come, for tokens that fail once only.
final class FirstRequests: Sendable {
    private static let limit = 100_000
    private let tokens = Mutex<Set<String>>([])

    /// Whether this is the first request to the token. Beyond the limit none is called the first.
    func isFirst(_ token: String) -> Bool {
        tokens.withLock { tokens in
            guard tokens.count < Self.limit else { return false }
            return tokens.insert(token).inserted
        }
    }
}

enum UnixTime {
    static func now() -> Duration { .seconds(Date().timeIntervalSince1970) }
}

extension Duration {
    var wholeSeconds: Int64 { components.seconds }
    var wholeMilliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
