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
        router.post(RouterPath(PostAddress.Kind.notification.route)) { request, context in
            try await count.counting(.notification, context) { try await post(request, context) }
        }
    }

    private func post(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await access(request, context, ofUsers: false)
        try access.requireNotifications()
        // It stands in for an id, and is as long.
        let key = try IdempotencyKey.text(request.headers, upTo: Identifier<Event>.maximumBytes)
        try ContentType.check(request.headers, accepted: ContentType.json)
        let body = try await RequestBodyReader.bytes(of: request, upTo: RequestBodyReader.eventsLimit)
        switch try NotificationParser(services, of: access).parse(body, key: key, by: access) {
        case .single(let notification):
            guard let receipt = try await accept([notification], of: access).first else { throw Problem.internalError }
            return .json(receipt.json, status: .accepted)
        case .batch(let notifications):
            let receipts = try await accept(notifications, of: access)
            return .json(["results": .array(receipts.map(\.json))], status: .accepted)
        }
    }

    private func accept(_ notifications: [ParsedEvent], of access: Access) async throws -> [Receipt] {
        try services.rates.take(events: notifications.count, of: access.network)
        return try await services.accept(notifications, access.networkID)
    }
}

extension NotificationParser {
    init(_ services: Services, of access: Access) {
        self.init(clock: services.clock, addresses: services.addressReader(for: access.network))
    }

    /// Reads what somebody sends, under the key of their request if it has one.
    ///
    /// - Throws: Beside ``InvalidInput`` 403 for devices that only admins address.
    func parse(_ body: [UInt8], key: String?, by access: Access) throws -> ParsedBody {
        let parsed = try parse(body: body) { index in
            key.map { Self.sourceID(key: $0, index: index) } ?? EventID(UUID()).description
        }
        switch parsed {
        case .single(let notification): try Self.check([notification], isArray: false, of: access)
        case .batch(let notifications): try Self.check(notifications, isArray: true, of: access)
        }
        return parsed
    }

    private static func check(_ notifications: [ParsedEvent], isArray: Bool, of access: Access) throws(Problem) {
        for (index, notification) in notifications.enumerated() where access.writer != .admin {
            guard case .known(let event) = notification.content, case .addresses(let devices)? = event.direct?.audience,
                let place = devices.firstIndex(where: { !$0.address.provider.kind.isPushService })
            else { continue }
            let pointer = (isArray ? "/\(index)" : "") + "/to/addresses/\(place)/provider"
            throw Problem.forbidden("devices of this provider are addressed by admins", at: pointer)
        }
    }

    /// What a notification without an id is recognised by: the request's key, with its place in an array.
    private static func sourceID(key: String, index: Int?) -> String {
        let name = index.map { "\(key)/\($0)" } ?? key
        guard Identifier<Event>(name) == nil else { return name }
        return Base64URL.encode(SHA256.hash(data: Array(name.utf8)))
    }
}
