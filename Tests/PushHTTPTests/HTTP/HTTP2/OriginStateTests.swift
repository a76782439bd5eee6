import CarillonCore
import CarillonTesting
import Testing

@testable import PushHTTP

@Suite struct OriginStateTests {
    private final class Connection: Sendable {}

    private typealias State = OriginState<Connection, Int>

    private static func state(_ change: (inout ConnectionPolicy) -> Void = { _ in }) -> State {
        var policy = ConnectionPolicy.lasting
        change(&policy)
        return State(policy, speaksHTTP1: false)
    }

    private let first = Connection()
    private let second = Connection()

    /// Asks for a place.
    /// - Returns: The connection; or whether one is to be opened.
    private func ask(_ state: inout State, as waiter: Int = 0, of lane: Lane? = nil) -> (
        connection: Connection?, opens: Bool?
    ) {
        switch state.request(of: lane, { waiter }) {
        case .send(let connection): (connection, nil)
        case .wait(_, let opens): (nil, opens)
        case .useHTTP1, .refuse, .leftAlone: (nil, nil)
        }
    }

    @Test func `opens one connection for all who wait, and serves them in order`() {
        var state = Self.state()
        #expect(ask(&state, as: 1).opens == true)
        #expect(ask(&state, as: 2).opens == false)
        #expect(ask(&state, as: 3).opens == false)
        let consequence = state.opened(first, id: ObjectIdentifier(first), limit: 2)
        #expect(consequence.grants.map(\.waiter) == [1, 2])
        #expect(consequence.opens)
        #expect(state.requestEnded(on: ObjectIdentifier(first), of: nil).grants.map(\.waiter) == [3])
    }

    @Test func `opens no more connections than it may`() {
        var state = Self.state { $0.maximumConnections = 2 }
        #expect(ask(&state).opens == true)
        _ = state.opened(first, id: ObjectIdentifier(first), limit: 1)
        #expect(ask(&state).opens == true)
        _ = state.opened(second, id: ObjectIdentifier(second), limit: 1)
        #expect(ask(&state).opens == false)
        #expect(state.retired(ObjectIdentifier(first)).opens)
    }

    @Test func `opens no second connection before the first has proven its credential`() {
        var state = Self.state { $0.provesCredentialFirst = true }
        #expect(ask(&state).opens == true)
        _ = state.opened(first, id: ObjectIdentifier(first), limit: 1)
        #expect(ask(&state).opens == false)
        #expect(state.limitChanged(of: ObjectIdentifier(first), to: 100).grants.count == 1)
    }

    @Test func `keeps the others waiting when one connection of several cannot be opened`() {
        var state = Self.state()
        _ = ask(&state)
        _ = state.opened(first, id: ObjectIdentifier(first), limit: 1)
        #expect(ask(&state, as: 7).opens == true)
        #expect(state.openingFailed().isEmpty)
        #expect(state.requestEnded(on: ObjectIdentifier(first), of: nil).grants.map(\.waiter) == [7])
    }

    @Test func `opens none to a host that was sent away, and lets nobody wait for it`() {
        var state = Self.state { $0.maximumConnections = 1 }
        _ = ask(&state)
        _ = state.opened(first, id: ObjectIdentifier(first), limit: 1)
        _ = ask(&state, as: 7)
        let consequence = state.sentAway(ObjectIdentifier(first))
        #expect(!consequence.opens)
        #expect(consequence.unanswered == [7])
        #expect(!state.isUnused)
    }

    @Test func `tells all when there is no connection at all`() {
        var state = Self.state()
        _ = ask(&state, as: 1)
        _ = ask(&state, as: 2)
        #expect(state.openingFailed() == [1, 2])
        #expect(state.isUnused)
        #expect(ask(&state).opens == true)
    }

    @Test func `sends everybody on to HTTP/1.1 when that is what the host speaks`() {
        var state = Self.state()
        _ = ask(&state, as: 1)
        #expect(state.openedHTTP1() == [1])
        guard case .useHTTP1 = state.request(of: nil, { 0 }) else {
            Issue.record("has to use HTTP/1.1")
            return
        }
        #expect(state.opened(first, id: ObjectIdentifier(first), limit: 1).grants.isEmpty)
        #expect(ask(&state).connection === first)
    }

    @Test func `forgets who does not wait any longer`() {
        var state = Self.state()
        guard case .wait(let number, _) = state.request(of: nil, { 1 }) else {
            Issue.record("has to wait")
            return
        }
        _ = ask(&state, as: 2)
        #expect(state.withdraw(number, of: nil) == 1)
        #expect(state.withdraw(number, of: nil) == nil)
        #expect(state.opened(first, id: ObjectIdentifier(first), limit: 9).grants.map(\.waiter) == [2])
    }

    @Test func `opens another connection for who comes just when nobody seemed to wait`() {
        var state = Self.state()
        guard case .wait(let number, true) = state.request(of: nil, { 1 }) else {
            Issue.record("has to wait")
            return
        }
        #expect(state.isAwaited)
        _ = state.withdraw(number, of: nil)
        #expect(!state.isAwaited)
        #expect(ask(&state, as: 2).opens == false)
        #expect(state.openingGivenUp().opens)
        _ = state.opened(first, id: ObjectIdentifier(first), limit: 1)
        #expect(!state.openingGivenUp().opens)
    }

    @Test func `lets go only of a connection without requests that nobody waits for`() {
        var state = Self.state { $0.maximumConnections = 1 }
        let id = ObjectIdentifier(first)
        _ = ask(&state)
        _ = state.opened(first, id: id, limit: 1)
        #expect(state.idle(id) == nil)
        #expect(state.dropIdle(id) == nil)
        _ = ask(&state)
        _ = state.requestEnded(on: id, of: nil)
        #expect(state.dropIdle(id) == nil, "the next one in line has it")
        _ = state.requestEnded(on: id, of: nil)
        #expect(state.idle(id) === first)
        #expect(state.dropIdle(id) === first)
        #expect(state.isUnused)
    }

    @Test func `refuses who would be one too many`() {
        var state = Self.state { $0.maximumWaiting = 1 }
        _ = ask(&state)
        guard case .refuse = state.request(of: nil, { 0 }) else {
            Issue.record("has to refuse")
            return
        }
    }

    @Test func `turns go round the networks that wait, and then round their apps`() {
        func lane(_ network: String, _ app: String) -> Lane {
            Lane(networkID: NetworkID(trusted: network), provider: .apns, appID: app)
        }
        var state = Self.state { $0.maximumConnections = 1 }
        _ = ask(&state)
        let id = ObjectIdentifier(first)
        _ = state.opened(first, id: id, limit: 1)
        for waiter in 10..<20 { _ = ask(&state, as: waiter, of: lane("a", "one")) }
        _ = ask(&state, as: 20, of: lane("a", "two"))
        _ = ask(&state, as: 30, of: lane("b", "one"))
        let order = (0..<5).flatMap { _ in state.requestEnded(on: id, of: nil).grants.map(\.waiter) }
        #expect(order == [10, 30, 20, 11, 12])
    }

    @Test
    func `no more are on their way than the host takes, over whichever connections, and it is known whose they are`() {
        func lane(_ endpoint: String) -> Lane { Lane(networkID: "acme", provider: .relay, appID: endpoint) }
        let (a, b) = (lane("a"), lane("b"))
        var state = State(.brief, maximumRequests: 2, speaksHTTP1: false)
        #expect(ask(&state, as: 1, of: a).opens == true)
        #expect(!state.isTakenByOthers(than: b), "there is no connection yet")
        #expect(state.opened(first, id: ObjectIdentifier(first), limit: 100).grants.map(\.waiter) == [1])
        #expect(ask(&state, as: 2, of: a).connection === first)
        #expect(ask(&state, as: 3, of: b).opens == false, "another connection would not help")
        #expect(state.isTakenByOthers(than: b) && !state.isTakenByOthers(than: a))
        // What is on its way over a connection that takes nothing new is on its way all the same.
        #expect(!state.retired(ObjectIdentifier(first)).opens)
        #expect(state.requestEnded(on: ObjectIdentifier(first), of: a).opens)
        #expect(state.opened(second, id: ObjectIdentifier(second), limit: 100).grants.map(\.waiter) == [3])
        #expect(!state.isTakenByOthers(than: b))
        #expect(ask(&state, as: 4, of: b).opens == false)
        #expect(state.requestEnded(on: ObjectIdentifier(first), of: a).grants.map(\.waiter) == [4])
    }

    @Test func `opens another connection when the one that has to prove its credential takes long`() {
        var state = Self.state {
            $0.provesCredentialFirst = true
            $0.maximumConnections = 2
        }
        _ = ask(&state)
        _ = state.opened(first, id: ObjectIdentifier(first), limit: 1)
        #expect(state.beginWatchingProof() == false, "nobody waits")
        #expect(ask(&state, as: 1).opens == false)
        #expect(state.beginWatchingProof() == true)
        #expect(state.beginWatchingProof() == false, "once is enough")
        #expect(state.endWatchingProof() == true)
        #expect(state.opened(second, id: ObjectIdentifier(second), limit: 1).grants.map(\.waiter) == [1])
        #expect(ask(&state, as: 2).opens == false)
        #expect(state.beginWatchingProof() == false, "there are as many as there may be")
    }
}
