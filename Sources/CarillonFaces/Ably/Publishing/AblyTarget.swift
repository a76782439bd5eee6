import CarillonCore
import CarillonEdge
import Metrics

/// Whom a push is for, when it is for nobody's channel.
enum AblyTarget: Sendable {
    case device(DeviceID)
    case client(UserID)
    /// Whatever is reached there; in the form of Carillon's own API.
    case address(JSONObject)

    /// Reads a recipient.
    /// - Throws: 40000, 40012, 40015.
    init(_ recipient: JSONValue, _ settings: AblySettings) throws(AblyError) {
        guard case .object(let object) = recipient else { throw .malformed("recipient must be an object") }
        let given = ["deviceId", "clientId", "transportType"].filter { recipient[$0] != nil }
        guard given.count == 1, let key = given.first else {
            throw .malformed("recipient must have exactly one of deviceId, clientId and transportType")
        }
        guard key != "transportType" else {
            self = .address(try AblyRecipient(object, settings).address)
            return
        }
        guard case .string(let text)? = object[key] else { throw .malformed("recipient.\(key) must be a string") }
        self = key == "deviceId" ? .device(try DeviceID(ablyDevice: text)) : .client(try UserID(ablyClient: text))
    }

    var device: DeviceID? { if case .device(let id) = self { id } else { nil } }

    /// Whom these are, as one audience or more: as few as there are kinds of them.
    static func audiences(of targets: [AblyTarget]) -> [JSONObject] {
        var devices: [JSONValue] = []
        var clients: [JSONValue] = []
        var addresses: [JSONValue] = []
        for target in targets {
            switch target {
            case .device(let id): devices.append(.string(id.rawValue))
            case .client(let id): clients.append(.string(id.rawValue))
            case .address(let address): addresses.append(.object(address))
            }
        }
        func parts(_ key: String, _ all: [JSONValue], _ size: Int) -> [JSONObject] {
            stride(from: 0, to: all.count, by: size).map { [key: .array(Array(all[$0..<min($0 + size, all.count)]))] }
        }
        return parts("deviceIds", devices, 1_000) + parts("userIds", clients, 1_000)
            + parts("addresses", addresses, 100)
    }
}

/// Makes events of what Ably's clients publish.
struct AblyPublication: Sendable {
    private let parser: NotificationParser
    private let appID: String
    private let droppedHeaders: Counter

    init(_ caller: AblyCaller, _ services: Services) {
        let addresses = services.addressReader(for: caller.network)
        parser = NotificationParser(clock: services.clock, addresses: addresses)
        appID = caller.appID
        droppedHeaders = Counter(
            label: "carillon_face_dropped_headers_total",
            dimensions: [("face", FaceName.ably.rawValue)],
            factory: services.metrics
        )
    }

    var newID: String { AblySource.newID(of: appID) }

    /// An event of a payload, read as strictly as what is posted as such.
    ///
    /// - Throws: 40000 for what no push service would take.
    func event(
        id: String,
        _ payload: AblyPayload,
        to audience: JSONObject,
        in channel: String? = nil
    ) throws(AblyError) -> ParsedEvent {
        if payload.droppedHeaders > 0 { droppedHeaders.increment(by: payload.droppedHeaders) }
        let address: JSONObject = ["to": .object(audience), "channelId": channel.map(JSONValue.string)]
        let document = JSONObject(joining: payload.fields, address)
        do throws(InvalidInput) {
            let parsed = try parser.parse(body: JSONValue.object(document).serialized) { _ in id }
            guard case .single(let event) = parsed else {
                throw InvalidInput(problem: "", pointer: "", detail: "is not one")
            }
            return event
        } catch {
            let first = error.errors.first
            throw .malformed("\(first?.pointer ?? "") \(first?.detail ?? "is not valid")")
        }
    }
}
