import CarillonCore
import CarillonEdge
import struct Foundation.UUID
import HTTPTypes
import Hummingbird
import Logging

/// `/channels/{name}/messages` and `/messages` (FACES E6): what is to be pushed of a message is; the rest of it is taken and
/// forgotten.
struct AblyMessageController: Sendable {
    private static let maximumChannels = 100

    let services: Services

    func addRoutes(to routes: AblyRoutes) {
        routes.on(.post, "/channels/{channel}/messages", as: "publish-messages", use: publish)
        routes.on(.post, "/messages", as: "publish-to-channels", use: publishToChannels)
    }

    private func publish(_ call: AblyCall) async throws -> Response {
        let channel = try TagID(ablyChannel: try call.context.segment("channel", plusIsSpace: true))
        try call.caller.require(.publish, on: channel.rawValue)
        let body = try await AblyBody.value(of: call.request, clean: AblyMessages.withoutContent)
        let published = try await publish(try AblyMessages(body, by: call.caller), on: channel, call)
        return .ably(.object(published), status: .created, to: call.request)
    }

    private func publishToChannels(_ call: AblyCall) async throws -> Response {
        let body = try await AblyBody.value(of: call.request, clean: AblyMessages.withoutContent)
        var wanted: [(channel: String, messages: JSONValue)] = []
        for specification in body.oneOrMore {
            guard case .object(let object) = specification, let messages = object["messages"] else {
                throw AblyError.body("channels and messages are required")
            }
            wanted += try Self.channels(object["channels"]).map { ($0, messages) }
            guard wanted.count <= Self.maximumChannels else {
                throw AblyError.body("at most \(Self.maximumChannels) channels are published to at once")
            }
        }
        guard !wanted.isEmpty else { throw AblyError.body("channels must not be empty") }
        var results: [JSONValue] = []
        var failures = 0
        for (name, value) in wanted {
            do {
                let channel = try TagID(ablyChannel: name)
                try call.caller.require(.publish, on: name)
                let published = try await publish(try AblyMessages(value, by: call.caller), on: channel, call)
                results.append(["channel": .string(name), "messageId": published["messageId"] ?? .null])
            } catch let error as AblyError {
                failures += 1
                results.append(["channel": .string(name), "error": error.json])
            } catch let error where results.count > failures {
                // What was taken must not be sent again, so it is told apart from what was not.
                call.context.logger.warning("A channel was not published to", metadata: ["error": "\(error)"])
                failures += 1
                let refusal = AblyError(.serviceUnavailable, 50003, "it could not be taken at the moment")
                results.append(["channel": .string(name), "error": refusal.json])
            }
        }
        guard failures > 0 else { return .ably(.array(results), to: call.request) }
        throw AblyError(
            .badRequest,
            40020,
            "\(failures) of \(results.count) channels could not be published to",
            batch: results
        )
    }

    /// Publishes messages on a channel.
    /// - Returns: What they are called, and how they would be found again.
    private func publish(_ messages: AblyMessages, on channel: TagID, _ call: AblyCall) async throws -> JSONObject {
        let caller = call.caller
        let publication = AblyPublication(caller, services)
        var events: [Int: ParsedEvent] = [:]
        let isOn = caller.settings.pushIsOn(for: channel)
        for (index, message) in messages.messages.enumerated() {
            guard let push = message.push else { continue }
            // Read all the same: what is wrong is wrong today, not only once somebody enables push.
            events[index] = try publication.event(
                id: AblySource.id(of: message.id, on: channel, of: caller.appID),
                push,
                to: ["tags": [.string(channel.rawValue)]],
                in: channel.rawValue
            )
        }
        if !isOn, !events.isEmpty {
            call.context.face.note(reason: "push is not enabled on the channel: nothing was sent")
            services.journal.noteUnsent(messages.base, on: channel, by: caller)
            events = [:]
        }
        let indices = events.keys.sorted()
        var ids: [Int: EventID] = [:]
        if !indices.isEmpty {
            try services.rates.take(events: indices.count, of: caller.network)
            let receipts = try await services.accept(indices.compactMap { events[$0] }, caller.network.id)
            for (index, receipt) in zip(indices, receipts) { ids[index] = receipt.id }
            if let receipt = receipts.first { call.context.face.note(event: receipt.id) }
        }
        let now = services.clock.now().milliseconds
        let serials = messages.messages.indices.map { index in
            let id = ids[index]
            return JSONValue.string("\(id?.milliseconds ?? now)-000@\(id ?? EventID(UUID())):\(index)")
        }
        return ["channel": .string(channel.rawValue), "messageId": .string(messages.base), "serials": .array(serials)]
    }

    private static func channels(_ value: JSONValue?) throws(AblyError) -> [String] {
        switch value {
        case .string(let name): return [name]
        case .array(let elements):
            let names = elements.compactMap(\.text)
            guard names.count == elements.count else { throw .body("channels must be strings") }
            return names
        default: throw .body("channels must be a string, or an array of them")
        }
    }
}
