import CarillonTesting
import Testing

@testable import CarillonCore

/// What devices of Buzz's apps get of an event, beside what all get.
@Suite struct BuzzExpansionTests {
    private let names = DirectoryNames(people: ["bob": "Bob B."])

    private func event(_ type: EventType, actor: Person?, members: [Person] = []) -> Event {
        Event(
            sourceID: "e",
            type: type,
            timestamp: Timestamp(milliseconds: 0),
            channel: Channel(id: "general"),
            actor: actor,
            members: members,
            message: Message(kind: .text, text: "Hi")
        )
    }

    private static let cases: [(EventType, Person?, [Person], Int, String?)] = [
        (.messageSent, Person(id: "alice", displayName: "Alice"), [], 0, "Alice"),
        (.messageSent, Person(id: "bob"), [], 0, "Bob B."),
        (.channelCreated, Person(id: "eve"), [Person(id: "bob")], 1, "eve"),
        (.channelCreated, nil, [], 1, nil),
        (.memberJoined, nil, [Person(id: "bob")], 0, "Bob B."),
    ]

    @Test(arguments: cases.indices)
    func `each event has a number, a room, and a name where there is one`(index: Int) throws {
        let (type, actor, members, number, name) = Self.cases[index]
        let payload = try #require(BuzzPayload(event(type, actor: actor, members: members), names))
        var keys: JSONObject = ["notificationType": .number(JSONNumber(number)), "roomId": "general"]
        keys["userName"] = name.map(JSONValue.string)
        keys["content"] = ["$text": "body"]
        #expect(payload.added(to: nil, for: .apns)?.parts == [.apns: RawPart(payload: keys)])
        #expect(payload.added(to: nil, for: .fcm)?.parts == [.fcm: RawPart(payload: ["data": .object(keys)])])
        #expect(payload.added(to: nil, for: .webpush)?.parts.isEmpty == true)
    }

    @Test func `what no event of the chat caused is left as it was written`() {
        #expect(BuzzPayload(event(.notificationDirect, actor: nil), names) == nil)
    }

    @Test func `only devices of bound apps are meant, each by its own push service`() {
        let binding = FaceBinding(
            face: .buzz,
            externalID: "app",
            networkID: "acme",
            settings: ["ios": ["appId": "ios.app"]],
            updatedAt: Timestamp(milliseconds: 0)
        )
        let index = FaceIndex(FaceList(version: FaceList.Version(changes: 1), bindings: [binding], keys: []))
        #expect(index.isBuzz(.apns, "ios.app", in: "acme") && index.isBuzz(.fcm, "app", in: "acme"))
        #expect(!index.isBuzz(.apns, "app", in: "acme") && !index.isBuzz(.fcm, "ios.app", in: "acme"))
        #expect(!index.isBuzz(.apns, "ios.app", in: "other") && !index.isBuzz(.webpush, "app", in: "acme"))
    }
}
