import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// Events in (API section 3) and what became of them (section 8).
struct EventController: Controller {
    let services: Services
    let journal: PostJournal
    let count: PostCount

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.post(RouterPath(PostAddress.Kind.event.route)) { request, context in
            try await count.counting(.event, context) { try await post(request, context) }
        }
        let admins = admins(router)
        admins.pages("/events", use: list)
        admins.pages("/events/recent") { request in
            try request.query.refuseAll(isPaged: false)
            return .json(["items": try await journal.json(of: .native, in: request.network)])
        }
        admins.show("/events/{id}") { try await services.history.event($0.eventID(), in: $0.network)?.json }
        admins.pages("/events/{id}/deliveries", use: listDeliveries)
        admins.remove("/events/{id}/deliveries") { try await services.history.withdraw($0.eventID(), in: $0.network) }
    }

    private func post(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let network: Network
        let body: [UInt8]
        do {
            (network, body) = try await authorizedBody(request, context)
        } catch {
            if let network = await services.authenticator.knownNetwork(context) {
                journal.note(error, .native, in: network)
            }
            throw error
        }
        return try await journal.watching(.native, in: network.id) {
            let parser = EventParser(clock: services.clock)
            switch try parser.parse(body: body, fallbackSourceID: request.headers[SignedBody.idHeader]) {
            case .single(let event):
                guard let answer = try await accepted([event], of: network).first else { throw Problem.internalError }
                return .json(answer, status: .accepted)
            case .batch(let events):
                return .json(["results": .array(try await accepted(events, of: network))], status: .accepted)
            }
        }
    }

    /// What is answered to each of some events, once they are durable.
    private func accepted(_ events: [ParsedEvent], of network: Network) async throws -> [JSONValue] {
        try services.rates.take(events: events.count, of: network)
        let receipts = try await services.accept(events, network.id)
        let reasons = events.map { event -> String? in
            if case .ignored(let type) = event.content { EventType.reasonToIgnore(type) } else { nil }
        }
        journal.answered(receipts, ignoring: reasons.compactMap(\.self).first, in: network.id)
        return zip(receipts, reasons).map { $0.json(because: $1) }
    }

    /// The body, from somebody who may post events: an API key is checked before the body is read, a signature after.
    private func authorizedBody(
        _ request: Request,
        _ context: CarillonRequestContext
    ) async throws -> (Network, [UInt8]) {
        guard request.headers[.authorization] == nil, let signature = SignedBody(request.headers) else {
            let access = try await access(request, context, ofUsers: false)
            try access.requireEvents()
            return (access.network, try await body(of: request))
        }
        let networkID = try context.identifier("network", as: Network.self)
        let body = try await body(of: request)
        return (try await services.authenticator.verify(signature, body, of: networkID, context), body)
    }

    private func body(of request: Request) async throws -> [UInt8] {
        try ContentType.check(request.headers, accepted: ContentType.json)
        return try await RequestBodyReader.bytes(of: request, upTo: RequestBodyReader.eventsLimit)
    }

    private func list(_ request: NetworkRequest) async throws -> Response {
        let query = request.query
        try query.refuseAll(but: "sourceId", "type", "channelId", "userId", "state", "from", "to")
        let page = try Page(query)
        let filter = try EventFilter(query)
        if let sourceID = try query.identifier("sourceId", as: Event.self) {
            let found = try await services.history.event(sourceID: sourceID.rawValue, in: request.network)
            return page.answer(found.map { [$0] }?.filter(filter.matches) ?? [], key: \.id.description, \.json)
        }
        let events = try await services.history.events(
            in: request.network,
            matching: filter,
            before: page.after { EventID($0) },
            limit: page.limit
        )
        return page.answer(events.items, next: events.next?.description, \.json)
    }

    private func listDeliveries(_ request: NetworkRequest) async throws -> Response {
        let query = request.query
        try query.refuseAll(but: "state", "provider", "userId")
        let page = try Page(query)
        let deliveries = try await services.history.deliveries(
            of: try request.eventID(),
            in: request.network,
            matching: try DeliveryFilter(query),
            after: page.after { DeliveryCursor($0) },
            limit: page.limit
        )
        let found = try deliveries.found()
        return page.answer(found.items, next: found.next?.description, \.json)
    }
}

extension DeliveryFilter {
    fileprivate init(_ query: QueryParameters) throws(Problem) {
        self.init(
            states: try query.choices("state", of: DeliveryState.self),
            provider: try query.choice("provider", of: ProviderName.self),
            userID: try query.identifier("userId", as: Person.self)
        )
    }
}

extension EventFilter {
    fileprivate init(_ query: QueryParameters) throws(Problem) {
        let type = try query.text("type").map { text throws(Problem) in
            guard let type = EventType(known: text) else {
                let types = EventType.known.map(\.rawValue).joined(separator: ", ")
                throw .invalidParameter("type", "must be one of \(types)")
            }
            return type
        }
        self.init(
            type: type,
            channelID: try query.identifier("channelId", as: Channel.self),
            actorID: try query.identifier("userId", as: Person.self),
            state: try query.choice("state", of: EventState.self),
            from: try query.timestamp("from"),
            to: try query.timestamp("to")
        )
        if let from, let to, to < from { throw .invalidParameter("to", "must not be before from") }
    }
}
