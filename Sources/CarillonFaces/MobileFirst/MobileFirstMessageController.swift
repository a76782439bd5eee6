import CarillonCore
import CarillonEdge
import Crypto
import Hummingbird
import Logging

/// Messages (FACES section H3).
struct MobileFirstMessageController: Sendable {
    private static let maximumBulk = 1_000

    let services: Services

    func addRoutes(to routes: MobileFirstRoutes) {
        routes.on(.post, "/messages", as: "message", for: .messagesWrite, use: post)
        routes.on(.post, "/messages/bulk", as: "messages", for: .messagesWrite, use: postBulk)
        routes.on(.get, "/messages/{message}", as: "show message", for: .messagesWrite, use: show)
        // A literal segment hides the parameter from all methods.
        routes.on(.get, "/messages/bulk", as: "show message", for: .messagesWrite, use: show)
    }

    private func post(_ caller: MobileFirstCaller) async throws -> Response {
        let message = try MobileFirstMessage(
            await RequestBodyReader.json(of: caller.request),
            id: sourceID(of: caller),
            to: caller.application
        )
        let answers = try await accept([message], .object(message.notification), caller)
        return .json(answers[0], status: .accepted)
    }

    /// Takes all messages of an array, or none.
    private func postBulk(_ caller: MobileFirstCaller) async throws -> Response {
        let body = try await RequestBodyReader.json(of: caller.request, upTo: RequestBodyReader.eventsLimit)
        guard case .array(let elements) = body, (1...Self.maximumBulk).contains(elements.count) else {
            throw Problem.mobileFirst(.wrongValue, "must be an array of 1 to \(Self.maximumBulk) messages")
        }
        let messages = try elements.enumerated().map { index, element in
            try MobileFirstMessage(element, id: sourceID(of: caller), to: caller.application, at: "/\(index)")
        }
        let bodies = JSONValue.array(messages.map { .object($0.notification) })
        return .json(.array(try await accept(messages, bodies, caller)), status: .accepted)
    }

    /// Accepts messages as direct notifications; what is too much or too long of them is found by their own parser.
    private func accept(
        _ messages: [MobileFirstMessage],
        _ body: JSONValue,
        _ caller: MobileFirstCaller
    ) async throws -> [JSONValue] {
        let addresses = services.addressReader(for: caller.network)
        let parser = NotificationParser(clock: services.clock, addresses: addresses)
        let parsed: [ParsedEvent] =
            switch try parser.parse(body: body.serialized, makeSourceID: { _ in sourceID(of: caller) }) {
            case .single(let event): [event]
            case .batch(let events): events
            }
        try services.rates.take(events: parsed.count, of: caller.network)
        let receipts = try await services.accept(parsed, caller.networkID)
        if let first = receipts.first { caller.context.face.note(event: first.id) }
        await keepAlerts(of: messages, receipts, in: caller.networkID)
        return zip(messages, receipts).map { message, receipt in
            [
                "messageId": .string(receipt.id.description),
                "message": ["alert": message.alert.map(JSONValue.string)],
            ]
        }
    }

    /// Keeps what is shown, to be told again. The messages are on their way, whether that succeeds or not.
    private func keepAlerts(of messages: [MobileFirstMessage], _ receipts: [Receipt], in network: NetworkID) async {
        var texts: [EventID: String] = [:]
        for (message, receipt) in zip(messages, receipts) {
            texts[receipt.id] = message.alert?.shortened(
                toCharacters: FaceTexts.maximumBytes,
                bytes: FaceTexts.maximumBytes
            )
        }
        do {
            try await services.faceStore.keepTexts(texts, of: network)
        } catch {
            services.logger.warning("The texts of messages were not kept", metadata: ["error": "\(error)"])
        }
    }

    /// Says how far a message got, and what it said as long as that is kept.
    private func show(_ caller: MobileFirstCaller) async throws -> Response {
        guard caller.context.parameters.get("message") != nil, let id = EventID(try caller.context.segment("message")),
            let event = try await services.history.event(id, in: caller.networkID),
            event.type == .notificationDirect, event.sourceID.hasPrefix(Self.origin(of: caller))
        else { throw Problem.mobileFirst(.notFound, "there is no such message") }
        let alert = try await services.faceStore.text(of: id, in: caller.networkID)
        return .json([
            "messageId": .string(id.description),
            "message": [
                "alert": alert.map(JSONValue.string), "status": .string(event.state.rawValue),
                "createdTime": event.receivedAt.mobileFirst, "recipients": JSONValue(event.recipients.resolved),
                "notified": JSONValue(event.recipients.notified),
            ],
        ])
    }

    private func sourceID(of caller: MobileFirstCaller) -> String {
        Self.origin(of: caller) + services.ids.next().canonicalText
    }

    /// What the ids of an application's messages begin with: nobody else's begin like it, unless their sender means them to.
    private static func origin(of caller: MobileFirstCaller) -> String {
        let digest = SHA256.hash(data: Array(caller.applicationID.utf8))
        return "imfpush:\(Base64URL.encode(Array(digest.prefix(16)))):"
    }
}
