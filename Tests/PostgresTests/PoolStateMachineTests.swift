import Testing

@testable import Postgres

@Suite struct PoolStateMachineTests {
    private var machine = PoolStateMachine(limit: 2, waiterLimit: 3)

    @Test mutating func `opens nothing before the first request`() {
        #expect(machine.statistics == PoolStatistics(size: 0, idle: 0, opening: 0, waiting: 0))
        #expect(machine.request(1) == [.open(1, failures: 0)])
    }

    @Test mutating func `gives an opened connection to the one who waits longest`() {
        _ = machine.request(1)
        _ = machine.request(2)
        #expect(machine.opened(2) == [.lease(2, to: 1)])
        #expect(machine.opened(1) == [.lease(1, to: 2)])
    }

    @Test mutating func `tells all who wait that nobody is let in, and asks anew for who comes later`() {
        for waiter in 1...3 { _ = machine.request(waiter) }
        #expect(machine.wasRefused(1) == [.close(1), .fail(1, .refused), .fail(2, .refused), .fail(3, .refused)])
        #expect(machine.wasRefused(2) == [.close(2)])
        #expect(machine.statistics == PoolStatistics(size: 0, idle: 0, opening: 0, waiting: 0))
        #expect(machine.request(4) == [.open(3, failures: 2)])
        #expect(machine.opened(3) == [.lease(3, to: 4)])
    }

    @Test mutating func `whoever waits for connections from before a password was changed gets one of those`() {
        lease(1)
        #expect(machine.request(2) == [.open(2, failures: 0)])
        #expect(machine.wasRefused(2) == [.close(2), .open(3, failures: 1)])
        #expect(machine.statistics.waiting == 1)
        #expect(machine.release(1, isReusable: true) == [.lease(1, to: 2)])
        #expect(machine.wasRefused(3) == [.close(3)])
    }

    @Test mutating func `opens no more than the limit`() {
        #expect(machine.request(1) == [.open(1, failures: 0)])
        #expect(machine.request(2) == [.open(2, failures: 0)])
        #expect(machine.request(3) == [])
        #expect(machine.statistics == PoolStatistics(size: 0, idle: 0, opening: 2, waiting: 3))
    }

    @Test mutating func `turns away callers beyond the waiting limit`() {
        for waiter in 1...3 { _ = machine.request(waiter) }
        #expect(machine.request(4) == [.fail(4, .exhausted)])
        #expect(machine.request(5, first: true) == [.fail(5, .exhausted)])
        #expect(machine.statistics.waiting == 3)
    }

    @Test mutating func `uses the connection that was used last`() {
        lease(1, 2)
        #expect(machine.release(1, isReusable: true) == [])
        #expect(machine.release(2, isReusable: true) == [])
        #expect(machine.request(3) == [.lease(2, to: 3)])
        #expect(machine.request(4) == [.lease(1, to: 4)])
    }

    @Test mutating func `lends what nobody uses, and half of all at the most`() {
        #expect(machine.lend() == nil)
        lease(1, 2)
        #expect(machine.lend() == nil)
        _ = machine.release(1, isReusable: true)
        _ = machine.release(2, isReusable: true)
        #expect(machine.lend() == 2)
        #expect(machine.lend() == nil)
        #expect(machine.request(3) == [.lease(1, to: 3)])
        _ = machine.request(4)
        #expect(machine.release(2, isReusable: true) == [.lease(2, to: 4)])
        _ = machine.release(2, isReusable: true)
        #expect(machine.lend() == 2)
        #expect(machine.release(2, isReusable: false) == [.close(2)])
        _ = machine.release(1, isReusable: true)
        #expect(machine.lend() == 1)
        _ = machine.shutDown()
        #expect(machine.release(1, isReusable: true) == [.close(1), .finish])
    }

    @Test mutating func `lends nothing of a pool of one`() {
        machine = PoolStateMachine(limit: 1, waiterLimit: 3)
        lease(1)
        _ = machine.release(1, isReusable: true)
        #expect(machine.lend() == nil)
    }

    @Test mutating func `hands a returned connection on`() {
        lease(1, 2)
        _ = machine.request(3)
        #expect(machine.release(1, isReusable: true) == [.lease(1, to: 3)])
    }

    @Test mutating func `serves those with precedence first, in the order they came`() {
        lease(1, 2)
        _ = machine.request(3)
        _ = machine.request(4, first: true)
        _ = machine.request(5, first: true)
        #expect(machine.release(1, isReusable: true) == [.lease(1, to: 4)])
        #expect(machine.release(2, isReusable: true) == [.lease(2, to: 5)])
        _ = machine.request(6, first: true)
        _ = machine.request(7, first: true)
        #expect(machine.withdraw(6, because: .cancelled) == [.fail(6, .cancelled)])
        #expect(machine.release(1, isReusable: true) == [.lease(1, to: 7)])
        #expect(machine.release(2, isReusable: true) == [.lease(2, to: 3)])
    }

    @Test mutating func `replaces a broken connection when somebody waits`() {
        lease(1, 2)
        _ = machine.request(3)
        #expect(machine.release(1, isReusable: false) == [.close(1), .open(3, failures: 0)])
        #expect(machine.opened(3) == [.lease(3, to: 3)])
    }

    @Test mutating func `does not replace a broken connection when nobody waits`() {
        lease(1)
        #expect(machine.release(1, isReusable: false) == [.close(1)])
        #expect(machine.statistics.size == 0)
    }

    @Test mutating func `waits longer after each failure, with one attempt at a time`() {
        _ = machine.request(1)
        _ = machine.request(2)
        #expect(machine.failedToOpen(1) == [.close(1)])
        #expect(machine.failedToOpen(2) == [.close(2), .open(3, failures: 2)])
        #expect(machine.request(3) == [])
        #expect(machine.failedToOpen(3) == [.close(3), .open(4, failures: 3)])
        #expect(machine.isFailing)
    }

    @Test mutating func `opens for all who wait once an attempt succeeds`() {
        _ = machine.request(1)
        _ = machine.failedToOpen(1)
        _ = machine.request(2)
        #expect(machine.opened(2) == [.lease(2, to: 1), .open(3, failures: 0)])
        #expect(!machine.isFailing)
    }

    @Test mutating func `gives up connecting when nobody waits any more, and tries at once for the next`() {
        _ = machine.request(1)
        #expect(machine.withdraw(1, because: .timedOut) == [.fail(1, .timedOut)])
        #expect(machine.failedToOpen(1) == [.close(1)])
        #expect(machine.request(2) == [.open(2, failures: 0)])
    }

    @Test mutating func `keeps a connection whose caller has gone`() {
        _ = machine.request(1)
        _ = machine.withdraw(1, because: .cancelled)
        #expect(machine.opened(1) == [])
        #expect(machine.statistics == PoolStatistics(size: 1, idle: 1, opening: 0, waiting: 0))
        #expect(machine.request(2) == [.lease(1, to: 2)])
    }

    @Test mutating func `a caller who was served cannot be withdrawn`() {
        lease(1)
        #expect(machine.withdraw(1, because: .timedOut) == [])
        #expect(machine.statistics.leased == 1)
    }

    @Test mutating func `shutdown turns away who waits and who comes`() {
        lease(1, 2)
        _ = machine.request(3)
        #expect(machine.shutDown() == [.fail(3, .shuttingDown)])
        #expect(machine.request(4) == [.fail(4, .shuttingDown)])
    }

    @Test mutating func `shutdown closes idle connections and waits for the others`() {
        lease(1, 2)
        _ = machine.release(1, isReusable: true)
        #expect(machine.shutDown() == [.close(1)])
        #expect(machine.release(2, isReusable: true) == [.close(2), .finish])
    }

    @Test mutating func `shutdown does not wait for a connection that is being opened`() {
        _ = machine.request(1)
        #expect(machine.shutDown() == [.fail(1, .shuttingDown), .close(1), .finish])
        #expect(machine.opened(1) == [])
        #expect(machine.failedToOpen(1) == [])
    }

    @Test mutating func `shutdown happens once`() {
        #expect(machine.shutDown() == [.finish])
        #expect(machine.shutDown() == [])
    }

    /// Leases connections 1, 2, … to waiters of the same numbers.
    private mutating func lease(_ numbers: Int...) {
        for number in numbers {
            #expect(machine.request(number) == [.open(number, failures: 0)])
            #expect(machine.opened(number) == [.lease(number, to: number)])
        }
    }
}
