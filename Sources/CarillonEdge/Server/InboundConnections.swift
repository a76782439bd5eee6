import CarillonCore
package import Metrics
import NIOCore
import Synchronization

/// The connections to one port, each with a slot or on its way out.
package final class InboundConnections: Sendable {
    /// Why a connection was ended that had done nothing but take its time.
    enum Cut: String, CaseIterable {
        /// Its address had all the slots that it may have.
        case refused
        /// It waited longest when a slot was needed.
        case displaced
        /// A request's head did not get complete.
        case head
        /// An answer was not fetched.
        case answer
        case malformed
    }

    private struct State {
        var slots: ConnectionSlots
        var channels: [ConnectionSlots.ID: any NIOCore.Channel] = [:]
        var lastID: ConnectionSlots.ID = 0
    }

    private let state: Mutex<State>
    private let proxies: TrustedProxies
    private let meter: Meter
    private let cuts: Counters<Cut>

    package init(_ settings: ServerSettings, port: String, metrics: any MetricsFactory) {
        let count = settings.connections - settings.spareSlots
        let slots = ConnectionSlots(slots: count, slotsPerAddress: settings.connectionsPerAddress)
        state = Mutex(State(slots: slots))
        proxies = settings.trustedProxies
        meter = Meter(label: "carillon_http_connections", dimensions: [("port", port)], factory: metrics)
        Meter(label: "carillon_http_connections_max", dimensions: [("port", port)], factory: metrics).set(count)
        let name = "carillon_http_connections_cut_total"
        cuts = Counters(name, by: "reason", labels: [("port", port)], factory: metrics)
    }

    /// A connection was accepted.
    /// - Returns: Its number, and whether it is of somebody whose `X-Forwarded-For` is believed; `nil` when it has to be closed.
    func open(_ channel: any NIOCore.Channel) -> (id: ConnectionSlots.ID, isOfProxy: Bool)? {
        let address = channel.remoteAddress.flatMap(IPAddress.init)
        let isOfProxy = address.map(proxies.contains) ?? false
        // A proxy's connections are those of many clients.
        let share = isOfProxy ? nil : address?.subscriber
        let (id, displaced): (ConnectionSlots.ID?, (any NIOCore.Channel)?) = state.withLock { state in
            state.lastID += 1
            let id = state.lastID
            let displaced: (any NIOCore.Channel)?
            switch state.slots.open(id, from: share) {
            case .admitted: displaced = nil
            case .displaces(let other): displaced = state.channels.removeValue(forKey: other)
            case .refused: return (nil, nil)
            }
            state.channels[id] = channel
            meter.set(state.slots.count)
            return (id, displaced)
        }
        if id == nil { cut(.refused) }
        displaced?.pipeline.fireUserInboundEventTriggered(ConnectionDisplaced())
        return id.map { ($0, isOfProxy) }
    }

    func waits(_ id: ConnectionSlots.ID) { state.withLock { $0.slots.waits(id) } }

    func works(_ id: ConnectionSlots.ID) { state.withLock { $0.slots.works(id) } }

    func closed(_ id: ConnectionSlots.ID) {
        state.withLock { state in
            state.slots.close(id)
            state.channels[id] = nil
            meter.set(state.slots.count)
        }
    }

    func cut(_ cut: Cut) { cuts.count(cut) }
}

/// Tells a connection that another one has its slot.
struct ConnectionDisplaced: Sendable {}
