import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// `/push/publish` and `/push/batch/publish` (FACES E6).
struct AblyPublishController: Sendable {
    private static let batchLimit = 4 * 1024 * 1024
    private static let maximumCount = 10_000
    /// How many events are made durable together.
    private static let eventsTogether = 500

    private struct Item {
        var targets: [AblyTarget] = []
        var events: [ParsedEvent] = []
        var error: AblyError?

        var json: JSONValue { error.map { ["error": $0.json] } ?? .object(JSONObject()) }
    }

    let services: Services

    func addRoutes(to routes: AblyRoutes) {
        routes.on(.post, "/push/publish", as: "publish", use: publish)
        routes.on(.post, "/push/batch/publish", as: "publish-batch", use: publishBatch)
        routes.on(.post, "/push/admin/batch/publish", as: "publish-batch", use: publishBatch)
    }

    private func publish(_ call: AblyCall) async throws -> Response {
        let caller = call.caller
        try caller.require(.pushAdmin)
        var payload = try await call.object()
        guard let recipient = payload["recipient"] else { throw AblyError.malformed("recipient is required") }
        payload["recipient"] = nil
        let target = try AblyTarget(recipient, caller.settings)
        let events = try Self.events(of: try AblyPayload(payload), to: [target], AblyPublication(caller, services))
        if let device = target.device {
            guard try await !services.devices.known(among: [device], in: caller.network.id).isEmpty else {
                throw AblyError.unknownDevice
            }
        }
        try services.rates.take(events: events.count, of: caller.network)
        let receipts = try await services.accept(events, caller.network.id)
        if let receipt = receipts.first { call.context.face.note(event: receipt.id) }
        return .noContent
    }

    private func publishBatch(_ call: AblyCall) async throws -> Response {
        let caller = call.caller
        try caller.require(.pushAdmin)
        guard case .array(let elements) = try await AblyBody.value(of: call.request, upTo: Self.batchLimit) else {
            throw AblyError.body("the body must be an array")
        }
        guard elements.reduce(0, { $0 + max(1, $1["recipient"]?.list?.count ?? 1) }) <= Self.maximumCount else {
            throw AblyError.tooLarge("a batch may have \(Self.maximumCount) notifications")
        }
        let publication = AblyPublication(caller, services)
        var items: [Item] = []
        for element in elements {
            var item = Item()
            do throws(AblyError) {
                (item.targets, item.events) = try Self.item(element, caller, publication)
            } catch {
                item.error = error
            }
            items.append(item)
        }
        let named = Set(items.flatMap { $0.targets.compactMap(\.device) })
        let known = try await services.devices.known(among: named, in: caller.network.id)
        for index in items.indices where !items[index].targets.compactMap(\.device).allSatisfy(known.contains) {
            items[index].error = .unknownDevice
        }
        try services.rates.take(
            events: items.reduce(0) { $0 + ($1.error == nil ? $1.events.count : 0) },
            of: caller.network
        )
        try await accept(&items, call)
        let failures = items.count { $0.error != nil }
        guard failures > 0 else { return .ably(.array(items.map(\.json)), to: call.request) }
        throw AblyError(
            .badRequest,
            40020,
            "\(failures) of \(items.count) items could not be taken; the others were",
            batch: items.map(\.json)
        )
    }

    /// Makes durable what is right, some at a time; what cannot be is so answered, unless nothing can.
    private func accept(_ items: inout [Item], _ call: AblyCall) async throws {
        var start = items.startIndex
        var isFirst = true
        while start < items.endIndex {
            var end = start
            var events: [ParsedEvent] = []
            while end < items.endIndex, events.count < Self.eventsTogether {
                if items[end].error == nil { events += items[end].events }
                end += 1
            }
            do {
                if !events.isEmpty {
                    let receipts = try await services.accept(events, call.network)
                    if isFirst, let receipt = receipts.first { call.context.face.note(event: receipt.id) }
                    isFirst = false
                }
            } catch  where !isFirst {
                // What was accepted before is on its way: to answer as if nothing were would have it sent twice.
                for index in start..<end where items[index].error == nil {
                    items[index].error = AblyError(.serviceUnavailable, 50003, "it could not be taken at the moment")
                }
            }
            start = end
        }
    }

    private static func item(
        _ element: JSONValue,
        _ caller: AblyCaller,
        _ publication: AblyPublication
    ) throws(AblyError) -> ([AblyTarget], [ParsedEvent]) {
        guard case .object(let object) = element, let recipient = object["recipient"] else {
            throw .malformed("an item must be an object with recipient and payload")
        }
        guard case .object(let payload)? = object["payload"] else { throw .malformed("payload must be an object") }
        guard recipient != .array([]) else { throw .malformed("recipient must not be empty") }
        let targets = try recipient.oneOrMore.map { recipient throws(AblyError) in
            try AblyTarget(recipient, caller.settings)
        }
        return (targets, try events(of: try AblyPayload(payload), to: targets, publication))
    }

    private static func events(
        of payload: AblyPayload,
        to targets: [AblyTarget],
        _ publication: AblyPublication
    ) throws(AblyError) -> [ParsedEvent] {
        try AblyTarget.audiences(of: targets).map { audience throws(AblyError) in
            try publication.event(id: publication.newID, payload, to: audience)
        }
    }
}
