import CarillonCore
import CarillonEdge
import Crypto
import HTTPTypes
import struct Foundation.UUID
import Hummingbird

/// Takes notifications that no event of the chat caused (FACES section B1).
struct NotificationController: Controller {
    let services: Services
    let count: PostCount

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.post("/v1/networks/{network}/notifications") { request, context in
            try await count.counting("notifications", context) { try await post(request, context) }
        }
    }

    private func post(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await access(request, context)
        try access.requireNotifications()
        // It stands in for an id, and is as long.
        let key = try IdempotencyKey.text(request.headers, upTo: Identifier<Event>.maximumBytes)
        try ContentType.check(request.headers, accepted: ContentType.json)
        let body = try await RequestBodyReader.bytes(of: request, upTo: RequestBodyReader.eventsLimit)
        let addresses = services.addressReader(for: access.network)
        let parsed = try NotificationParser(clock: services.clock, addresses: addresses).parse(body: body) { index in
            key.map { Self.sourceID(key: $0, index: index) } ?? EventID(UUID()).description
        }
        switch parsed {
        case .single(let notification):
            try check([notification], isArray: false, of: access)
            let receipts = try await services.accept([notification], access.networkID)
            guard let receipt = receipts.first else { throw Problem.internalError }
            return .json(receipt.json, status: .accepted)
        case .batch(let notifications):
            try check(notifications, isArray: true, of: access)
            let receipts = try await services.accept(notifications, access.networkID)
            return .json(["results": .array(receipts.map(\.json))], status: .accepted)
        }
    }

    private func check(_ notifications: [ParsedEvent], isArray: Bool, of access: Access) throws {
        for (index, notification) in notifications.enumerated() where access.writer != .admin {
            guard case .known(let event) = notification.content, case .addresses(let devices)? = event.direct?.audience,
                let place = devices.firstIndex(where: { !$0.address.provider.kind.isPushService })
            else { continue }
            let pointer = (isArray ? "/\(index)" : "") + "/to/addresses/\(place)/provider"
            throw Problem.forbidden("devices of this provider are addressed by admins", at: pointer)
        }
        try services.rates.take(events: notifications.count, of: access.network)
    }

    /// What a notification without an id is recognised by: the request's key, with its place in an array.
    private static func sourceID(key: String, index: Int?) -> String {
        let name = index.map { "\(key)/\($0)" } ?? key
        guard Identifier<Event>(name) == nil else { return name }
        return Base64URL.encode(SHA256.hash(data: Array(name.utf8)))
    }
}
