import CarillonCore
import CarillonTesting
import Foundation
import Synchronization
import Testing

@testable import CarillonProviders

extension DeliveryGroup {
    /// A group of one event to devices at these addresses.
    static func example(
        to addresses: [DeviceAddress],
        title: String = "Bob",
        body: String = "Bob has joined General",
        channelName: String? = "General"
    ) -> DeliveryGroup {
        DeliveryGroup(
            id: UUID(),
            lane: Lane(networkID: "acme", provider: addresses.first?.provider ?? .log, appID: ""),
            cause: DeliveryCause(
                .example,
                .memberJoined,
                in: Channel(id: "general", displayName: channelName),
                at: .example
            ),
            payload: .devices(DevicePush(Push(Notification(locale: "en", title: title, body: body)))),
            targets: addresses.enumerated().map { index, address in
                Target(
                    deviceID: DeviceID(trusted: "d-\(index)"),
                    userID: UserID(trusted: "u-\(index)"),
                    .device(address, registeredAt: Timestamp(milliseconds: 0), hasError: false)
                )
            },
            leased: true
        )
    }
}

extension DeliveryGroup {
    /// The same group for a message: of this id, from this person.
    func telling(of message: String, from sender: String) -> DeliveryGroup {
        var group = self
        group.cause.eventType = .messageSent
        group.cause.messageID = message
        group.cause.senderID = UserID(trusted: sender)
        return group
    }

    /// The same group beside ids of the greatest length that need escaping.
    var withLongestIDs: DeliveryGroup {
        let name = String(repeating: "\"", count: 256)
        var group = telling(of: name, from: name)
        group.cause.channel = Channel(id: ChannelID(trusted: name), displayName: name)
        group.lane.networkID = NetworkID(trusted: name)
        return group
    }
}

extension Target {
    /// Has it reached elsewhere.
    mutating func move(to address: DeviceAddress) {
        destination = .device(address, registeredAt: Timestamp(milliseconds: 0), hasError: false)
    }
}

extension Timestamp {
    /// When the examples happen, and clocks stand unless they are moved.
    static let example = Timestamp(milliseconds: 1_763_632_800_000)
}

extension EventID {
    static let example = EventID(UUID(uuid: (1, 2, 3, 4, 5, 6, 0x70, 8, 0x80, 10, 11, 12, 13, 14, 15, 16)))
}

extension Provider {
    /// What is reported for each device, in the order of the group; `nil` for none and for more than one report.
    func outcomes(of group: DeliveryGroup) async -> [Outcome?] {
        let reports = Mutex<[DeviceID: [Outcome]]>([:])
        await send(group) { target, outcome in
            reports.withLock { $0[target.deviceID, default: []].append(outcome) }
        }
        return reports.withLock { reports in
            group.targets.map { target in
                let outcomes = reports[target.deviceID] ?? []
                return outcomes.count == 1 ? outcomes[0] : nil
            }
        }
    }
}

/// Endpoints and bodies in a dictionary.
struct StoredMessages: RelaySource {
    let messages: [RelayKey: RelayMessage]

    init(_ messages: [RelayKey: RelayMessage]) { self.messages = messages }

    func relayMessages(_ keys: [RelayKey]) async throws -> [RelayKey: RelayMessage] {
        messages.filter { keys.contains($0.key) }
    }
}

/// An answer of a push service, and what it means.
struct AnswerRow: Sendable, CustomTestStringConvertible {
    var status: Int
    var body = ""
    var retryAfter: Duration?
    var failures = 0
    var expected: Finding
    var testDescription: String { "\(status) \(body.prefix(120)) after \(failures)" }

    init(_ status: Int, _ body: String = "", retryAfter: Duration? = nil, failures: Int = 0, finding: Finding) {
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
        self.failures = failures
        expected = finding
    }

    init(_ status: Int, _ body: String = "", retryAfter: Duration? = nil, failures: Int = 0, is outcome: Outcome) {
        self.init(status, body, retryAfter: retryAfter, failures: failures, finding: .certain(outcome))
    }
}
