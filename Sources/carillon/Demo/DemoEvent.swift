import CarillonCore
import Foundation

/// What happens in the demo's only channel; Alice does it all.
enum DemoEvent: Sendable {
    case channelCreated
    case memberJoined(String)
    case messageSent(String, mentions: [String] = [])

    private var type: String {
        switch self {
        case .channelCreated: "channel.created"
        case .memberJoined: "member.joined"
        case .messageSent: "message.sent"
        }
    }

    /// The event as it is posted, under an id of its own.
    func json() -> JSONValue {
        let id = "\(type)-\(UInt32.random(in: .min ... .max))"
        let channel: JSONValue = ["id": "general", "displayName": "General"]
        let alice: JSONValue = ["id": "alice", "displayName": "Alice", "roles": ["moderator"]]
        let data: JSONValue =
            switch self {
            case .channelCreated:
                [
                    "channel": channel, "user": alice,
                    "members": .array(["alice", "bob", "carol", "dave"].map(Self.person)),
                ]
            case .memberJoined(let id):
                ["channel": channel, "user": alice, "members": [Self.person(id)]]
            case .messageSent(let text, let mentions):
                [
                    "channel": channel, "user": alice,
                    "message": ["id": .string(id), "type": "text", "text": .string(text)],
                    "mentions": .array(mentions.map(JSONValue.string)),
                ]
            }
        return ["id": .string(id), "type": .string(type), "data": data]
    }

    private static func person(_ id: String) -> JSONValue {
        ["id": .string(id), "displayName": .string(id.capitalized)]
    }
}
