import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// What endpoints were told, and telling them again (FACES section C2). For admins.
struct RelayController: Controller {
    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        let admins = admins(router)
        admins.pages("/endpoints/{endpoint}/deliveries", use: list)
        admins.post("/endpoints/{endpoint}/deliveries/{event}/retry", use: retry)
        admins.post("/endpoints/{endpoint}/replay", use: replay)
    }

    private func list(_ request: NetworkRequest) async throws -> Response {
        let (endpoint, _) = try await observer(request)
        let query = request.query
        let page = try Page(query)
        let state = try query.choice("state", of: RelayState.self)
        let only = try query.text("eventId").map { text throws(Problem) in
            guard let id = EventID(text) else { throw .invalidParameter("eventId", "must be an id of an event") }
            return id
        }
        let deliveries = try await services.relays.relayDeliveries(
            to: endpoint.id,
            in: request.network,
            state: state,
            only: only,
            before: page.after { EventID($0) },
            limit: page.fetchLimit
        )
        return page.answer(deliveries, key: \.eventID.description, \.json)
    }

    private func retry(_ request: NetworkRequest) async throws -> Response {
        let (endpoint, observation) = try await observer(request)
        let event = try request.eventID("event")
        try await request.passEmptyBody(as: "invalid-retry")
        let retry = try await services.relays.retryRelay(
            of: event,
            to: endpoint.id,
            in: request.network,
            until: services.clock.now() + observation.retryTime
        )
        switch retry {
        case .queued: return Response(status: .accepted)
        case .unknown: throw Problem.notFound()
        case .bodyGone: throw Problem.conflict("body-gone", "the event is not kept any more: see replayHours")
        }
    }

    private func replay(_ request: NetworkRequest) async throws -> Response {
        let (endpoint, observation) = try await observer(request)
        let body = try await request.json()
        var order = try body.read(as: "invalid-replay") { reader in
            ReplayOrder(from: &reader, of: endpoint.settings)
        }
        // What is older is on its way to be forgotten.
        order.from = max(order.from, services.clock.now() - .seconds(observation.replayHours * 3_600))
        do {
            let count = try await services.relays.beginReplay(order, to: endpoint.id, in: request.network)
            return .json(["events": JSONValue(count.events), "more": count.hasMore ? true : nil], status: .accepted)
        } catch is ReplayUnderWay {
            throw Problem.conflict("replay-under-way", "another replay goes on: wait until it is over")
        }
    }

    /// The endpoint of the path, which has to be told of events.
    private func observer(_ request: NetworkRequest) async throws -> (Endpoint, EndpointRole.Observation) {
        let endpoint = try await services.endpoint(of: request)
        guard case .observe(let observation) = endpoint.settings.role else {
            throw Problem.conflict("not-an-observer", "the endpoint is asked about notifications, and told nothing")
        }
        return (endpoint, observation)
    }
}

extension ReplayOrder {
    /// Reads `{"from","to","types","onlyFailed"}`; without `types` it is for all that the endpoint wants.
    fileprivate init?(from reader: inout JSONObjectReader, of settings: EndpointSettings) {
        let (start, end) = (reader.timestamp("from", required: true), reader.timestamp("to", required: true))
        let onlyFailed = reader.bool("onlyFailed") ?? false
        let wanted = settings.types
        var types = wanted
        if let patterns = reader.strings("types", maximumCount: EndpointEvents.maximumCount, maximumBytes: 64) {
            for (index, pattern) in patterns.enumerated() where !EndpointEvents.isKnown(pattern, for: .observe) {
                reader.refuse("types", at: index, "must be a type of events, or all of a kind (message.*)")
            }
            let chosen = EndpointEvents(trusted: patterns)
            types = wanted.filter { chosen.contains($0, for: .observe) }
        }
        guard let start, let end else { return nil }
        if end < start { reader.refuse("to", "must not be before from") }
        self.init(from: start, to: end, types: types.sorted(), onlyFailed: onlyFailed)
    }
}

extension RelayDelivery {
    fileprivate var json: JSONValue {
        [
            "eventId": .string(eventID.description),
            "type": .string(eventType.rawValue),
            "state": .string(state.rawValue),
            "attempts": JSONValue(attempts),
            "status": JSONValue(answer?.status),
            "ms": JSONValue(answer?.milliseconds),
            "error": JSONValue(answer?.error),
            "at": JSONValue(at),
        ]
    }
}
