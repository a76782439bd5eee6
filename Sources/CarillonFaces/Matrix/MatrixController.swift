import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// Takes notifications from homeservers.
struct MatrixController: Sendable {
    private let services: FaceServices
    private let metrics: MatrixMetrics

    init(_ services: FaceServices) {
        self.services = services
        metrics = MatrixMetrics(factory: services.metrics)
    }

    /// `POST /_matrix/push/v1/notify`
    func notify(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        if let address = context.clientAddress {
            try services.rates.take(of: .requests, at: .matrix, from: address)
        }
        let index = try await services.index()
        let caller = MatrixCaller(keyOwner: try keyOwner(of: request, index), address: context.clientAddress)
        let body = try await RequestBodyReader.bytes(of: request, upTo: MatrixNotification.maximumBytes)
        let notification = try MatrixNotification(body: body)
        var selection = MatrixSelection(notification, caller, index)
        metrics.count(selection.skipped)
        if let network = selection.firstNetwork { context.face.note(network: network) }
        try selection.requireAny()
        for (network, places) in selection.taken {
            let delivery = MatrixDelivery(
                services: services,
                metrics: metrics,
                notification: notification,
                caller: caller
            )
            let outcome = try await delivery.deliver(to: places, of: network)
            selection.reject(outcome.rejected)
            if let event = outcome.firstEvent { context.face.note(event: event) }
            if let reason = outcome.reason { context.face.note(reason: reason) }
        }
        if let reason = selection.reason { context.face.note(reason: reason) }
        metrics.count([.rejected: selection.rejected.count])
        return .json(["rejected": JSONValue(selection.rejected)])
    }

    /// The network of the gateway key; `nil` without a key.
    private func keyOwner(of request: Request, _ index: FaceIndex) throws -> NetworkID? {
        guard let key = try QueryParameters(request).text("k"), !key.isEmpty else { return nil }
        guard let stored = index.key(.matrix, secret: key) else {
            throw MatrixError.unauthorized("the gateway key in the address is not known")
        }
        return stored.key.networkID
    }
}

/// Who posts a notification, as far as it can be known.
struct MatrixCaller: Sendable {
    /// Whose gateway key they have.
    var keyOwner: NetworkID?
    /// Where they are.
    var address: IPAddress?
}

extension RequestRates.Rate {
    /// Requests from one address.
    static let requests = Self("requests", perSecond: 200, burst: 1_000)
    /// Pushkeys that nobody has seen before, from one address.
    static let newFromAddress = Self("new pushkeys", perSecond: 20, burst: 200)
    /// Pushkeys that nobody has seen before, of one app.
    static let newOfApp = Self("new pushkeys of an app", perSecond: 100, burst: 10_000)
    /// Pushes to one pushkey: a homeserver sends one after the other.
    static let pushes = Self("pushes", perSecond: 10, burst: 60)
}
