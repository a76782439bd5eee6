import CarillonCore
import NIOCore
import NIOHTTP1
import Testing

/// Somebody to import.
struct Person: Sendable {
    let id: String
    let device: JSONValue?

    init(_ id: String, device: JSONValue? = nil) {
        self.id = id
        self.device = device
    }
}

extension TestNetwork {
    /// Imports people into a channel; whoever has a device has it under their own id.
    func importPeople(_ people: [Person], channel: String = "general") async throws {
        var lines: [JSONValue] = [["channel": ["id": .string(channel), "displayName": "General"]]]
        for person in people {
            lines.append(["user": ["id": .string(person.id)]])
            lines.append(["member": ["channelId": .string(channel), "userId": .string(person.id)]])
            if let device = person.device { lines.append(Self.line(device, id: person.id, user: person.id)) }
        }
        try await importLines(lines)
    }

    /// Imports a member of the channel `general` with these devices.
    func importUser(_ user: String, devices: [JSONValue]) async throws {
        var lines: [JSONValue] = [
            ["channel": ["id": "general", "displayName": "General"]], ["user": ["id": .string(user)]],
            ["member": ["channelId": "general", "userId": .string(user)]],
        ]
        for (number, device) in devices.enumerated() {
            lines.append(Self.line(device, id: "\(user)-\(number)", user: user))
        }
        try await importLines(lines)
    }

    /// Posts a message and waits until so many devices have it.
    func delivers(_ id: String, to devices: Int) async throws {
        let event = try await accept(TestEvents.messageSent(id))
        let state = try await done(event, within: .seconds(120))
        try #require(state["deliveries"]?["delivered"]?.integer == devices)
    }

    private func importLines(_ lines: [JSONValue]) async throws {
        let body = Array(lines.map(\.serializedText).joined(separator: "\n").utf8)
        let answer = try await client.send(
            .POST,
            "/v1/networks/\(id)/import",
            token: adminKey,
            body: body,
            contentType: "application/x-ndjson",
            limit: .minutes(3)
        )
        try #require(answer.status == 200, "\(answer.text)")
    }

    private static func line(_ device: JSONValue, id: String, user: String) -> JSONValue {
        var object = JSONObject()
        if case .object(let members) = device { object = members }
        object["id"] = .string(id)
        object["userId"] = .string(user)
        return ["device": .object(object)]
    }
}
