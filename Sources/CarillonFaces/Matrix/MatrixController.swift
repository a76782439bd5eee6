import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// Takes notifications from homeservers.
struct MatrixController: Sendable {
    private let services: Services
    let outcomes: Counters<MatrixOutcome>

    init(_ services: Services) {
        self.services = services
        outcomes = Counters("carillon_matrix_devices_total", by: "outcome", factory: services.metrics)
    }

    /// `POST /_matrix/push/v1/notify`
    func notify(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let lookup = try await services.faceLookup()
        let address = context.clientAddress
        let key = try QueryParameters(request).text("k").flatMap { $0.isEmpty ? nil : $0 }
        let keyOwner = try key.flatMap { try lookup.key(.matrix, secret: $0) }?.key.networkID
        if let keyOwner { context.caller.note(.network(keyOwner)) }
        // Who is known by where they are is seen when the body is read: until then all who hold no key are strangers.
        if keyOwner == nil { try takeRequest(from: address) }
        guard key == nil || keyOwner != nil else {
            throw Problem.matrix(.unauthorized, "the gateway key in the address is not known")
        }
        let caller = MatrixCaller(keyOwner: keyOwner, address: address)
        let body = try await RequestBodyReader.bytes(of: request, upTo: MatrixNotification.maximumBytes)
        let notification = try MatrixNotification(body: body)
        var selection = try MatrixSelection(notification, caller, lookup)
        for (outcome, count) in selection.skipped { outcomes.count(outcome, by: count) }
        if let network = selection.firstNetwork { context.face.note(network: network) }
        switch (keyOwner, selection.isOfStranger) {
        case (nil, false): if let address { services.rates.giveBack(.requests, at: .matrix, from: address) }
        case (.some, true): try takeRequest(from: address)
        default: break
        }
        for (network, places) in selection.taken {
            try services.rates.take(each: places.requestClaims(in: network))
        }
        try selection.requireAny()
        let delivery = MatrixDelivery(
            services: services,
            outcomes: outcomes,
            translation: MatrixTranslation(notification: notification, now: services.clock.now()),
            caller: caller
        )
        for (network, places) in selection.taken {
            let outcome = try await delivery.deliver(to: places, of: network)
            selection.reject(outcome.rejected)
            if let event = outcome.firstEvent { context.face.note(event: event) }
            if let reason = outcome.reason { context.face.note(reason: reason) }
        }
        if let reason = selection.reason { context.face.note(reason: reason) }
        outcomes.count(.rejected, by: selection.rejected.count)
        return .json(["rejected": JSONValue(selection.rejected)])
    }

    private func takeRequest(from address: IPAddress?) throws(Problem) {
        if let address { try services.rates.take(of: .requests, at: .matrix, from: address) }
    }
}

struct MatrixCaller: Sendable {
    var keyOwner: NetworkID?
    var address: IPAddress?
}

extension RequestRates.Owner {
    /// A network, for the events of those whom it does not know.
    static func eventsOfStrangers(_ network: NetworkID) -> Self { .named(.matrix, "events of strangers", network, "") }
}

extension RequestRates.Rate {
    /// Requests from one address.
    static let requests = Self("requests", perSecond: 200, burst: 1_000)
    /// Requests of one binding, of those whom it knows.
    static func requests(perSecond rate: Int) -> Self {
        Self("requests of a binding", perSecond: rate, burst: 10 * rate)
    }

    /// Pushkeys that nobody has seen before, from one address.
    static let newFromAddress = Self("new pushkeys", perSecond: 20, burst: 200)
    /// Pushkeys that nobody has seen before, of one app.
    static let newOfApp = Self("new pushkeys of an app", perSecond: 100, burst: 10_000)
    /// What an address gets of those when the app's rate is used up, as a homeserver does with what its users bring along.
    static let fewNewFromAddress = Self("few new pushkeys", perSecond: 1, burst: 60)
    /// What an app has of those for all such addresses.
    static let fewNewOfApp = Self("few new pushkeys of an app", perSecond: 100, burst: 10_000)
    /// Pushes to one pushkey: a homeserver sends one after the other.
    static let pushes = Self("pushes", perSecond: 10, burst: 60)
}
