import CarillonCore
import DequeModule

/// Who has a slot among the connections to a port, and who has to go when slots are scarce.
///
/// Pure: it says which connection is to be ended, ``InboundConnections`` ends it. A connection waits while it is the
/// caller's turn (no request, part of one, an answer that is not fetched) and works while it is ours. Only those that
/// wait can be displaced, first the one that has waited longest: neither many silent connections nor many slow ones keep
/// anybody out.
struct ConnectionSlots {
    typealias ID = UInt64

    enum Admission: Equatable {
        case admitted
        /// It has a slot, which another one loses.
        case displaces(ID)
        /// There is no slot: its address has all that it may, and works on all of them.
        case refused
    }

    fileprivate struct Connection {
        let address: IPAddress?
        /// Its number in the lines; `nil` while it works.
        var waitsSince: UInt64?
    }

    private struct Share {
        var count = 0
        var line = Line()
    }

    private let slots: Int
    private let slotsPerAddress: Int
    private var connections: [ID: Connection] = [:]
    private var shares: [IPAddress: Share] = [:]
    private var line = Line()
    private var counter: UInt64 = 0

    /// - Parameters:
    ///   - slots: Beyond how many connections one that waits is displaced by a new one.
    ///   - slotsPerAddress: How many connections one address may have.
    init(slots: Int, slotsPerAddress: Int) {
        self.slots = slots
        self.slotsPerAddress = slotsPerAddress
    }

    var count: Int { connections.count }
    /// How many entries the lines have, outdated ones included.
    var linesCount: Int { shares.values.reduce(line.count) { $0 + $1.line.count } }

    /// A connection was accepted, and waits.
    /// - Parameters:
    ///   - id: A number that no other connection ever had.
    ///   - address: Whose share it is counted to; `nil` for those who may have all slots.
    /// - Returns: Whether it may stay, and who has to go for it.
    mutating func open(_ id: ID, from address: IPAddress?) -> Admission {
        var displaced: ID?
        if let address, shares[address]?.count ?? 0 >= slotsPerAddress {
            displaced = shares[address]?.line.popFirst(of: connections)
            if displaced == nil { return .refused }
        } else if connections.count >= slots {
            displaced = line.popFirst(of: connections)
        }
        // Gives its slot back now: what it still has to do, it does on top of those that are counted.
        if let displaced { close(displaced) }
        connections[id] = Connection(address: address)
        if let address { shares[address, default: Share()].count += 1 }
        waits(id)
        return displaced.map { .displaces($0) } ?? .admitted
    }

    /// From now on a connection waits for its caller.
    mutating func waits(_ id: ID) {
        guard let index = connections.index(forKey: id) else { return }
        counter += 1
        connections.values[index].waitsSince = counter
        let entry = Line.Entry(id: id, since: counter)
        line.append(entry, open: connections.count, among: connections)
        if let address = connections.values[index].address, let share = shares.index(forKey: address) {
            shares.values[share].line.append(entry, open: shares.values[share].count, among: connections)
        }
    }

    /// From now on its caller waits for us.
    mutating func works(_ id: ID) {
        connections[id]?.waitsSince = nil
    }

    /// A connection has ended, or is about to.
    mutating func close(_ id: ID) {
        guard let connection = connections.removeValue(forKey: id), let address = connection.address else { return }
        shares[address]?.count -= 1
        if shares[address]?.count == 0 { shares[address] = nil }
    }
}

/// Connections in the order in which they began to wait.
///
/// Leaving it costs nothing: who works again or is gone stays in it until somebody comes across, and everything is gone
/// over when most entries are like that.
private struct Line {
    struct Entry {
        let id: ConnectionSlots.ID
        let since: UInt64
    }

    private var entries: Deque<Entry> = []

    var count: Int { entries.count }

    mutating func append(
        _ entry: Entry,
        open: Int,
        among connections: [ConnectionSlots.ID: ConnectionSlots.Connection]
    ) {
        entries.append(entry)
        if entries.count > 2 * open + 16 { entries.removeAll { connections[$0.id]?.waitsSince != $0.since } }
    }

    mutating func popFirst(of connections: [ConnectionSlots.ID: ConnectionSlots.Connection]) -> ConnectionSlots.ID? {
        while let entry = entries.popFirst() {
            if connections[entry.id]?.waitsSince == entry.since { return entry.id }
        }
        return nil
    }
}
