import CarillonCore
import CarillonTesting
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import CarillonEdge
@testable import CarillonHTTP

/// Those who read pages share permits by network (API section 13).
@Suite(.timeLimit(.minutes(1))) struct PageSemaphoreTests {
    private static let admitted = PageSemaphore.ofNetwork + PageSemaphore.line

    /// A service whose list of providers is answered when the gate opens.
    private func withGate(
        _ pages: PageSemaphore,
        _ test: @Sendable (TestAPI, Gate<NetworkID>, Credentials) async throws -> Void
    ) async throws {
        let gate = Gate<NetworkID>()
        try await withAPI(
            credentials: { CredentialsInTrouble(store: $0.credentials, beforeListing: { await gate.pass($0) }) },
            pages: pages
        ) { api in
            defer { gate.open() }
            try await test(api, gate, try await api.makeNetwork())
        }
    }

    @Test(arguments: [(1, 8, 1), (6, 8, 2), (20, 64, 8), (100, 64, 8), (6, 2, 1), (20, 4, 2), (20, 1, 1)])
    func `a network reads so many pages at a time, 64 more wait, and others are told to come back`(
        connections: Int,
        processors: Int,
        atOnce: Int
    ) async throws {
        let pages = PageSemaphore(connections: connections, processors: processors)
        try await withGate(pages) { api, gate, network in
            let (path, acme) = (network.path("providers"), NetworkID(trusted: "acme"))
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<Self.admitted {
                    group.addTask { try await network.call(.get, path).status }
                }
                try await waitUntil { pages.taken + pages.waiting == Self.admitted && gate.count(of: acme) == atOnce }
                #expect(pages.taken == atOnce)
                for _ in 0..<3 {
                    let refused = try await network.call(.get, path)
                    #expect(refused.refusal == "429 too-many-requests")
                    #expect(refused.headers[.retryAfter] == "1")
                }
                let other = try await network.call(.get, "dialects")
                #expect(other.status == 429, "all pages have the same permits")
                #expect(try await network.call(.get, "users/bob").status == 404)
                let put = try await network.call(.put, "users/bob", "{}")
                #expect(put.status == 201, "what is no page needs no permit")
                gate.open()
                for try await status in group { #expect(status == 200) }
            }
            #expect(pages.taken == 0 && pages.waiting == 0)
        }
    }

    @Test func `another network and the operator read while one has all that it may`() async throws {
        let pages = PageSemaphore(connections: 6, processors: 4)
        try await withGate(pages) { api, gate, network in
            let other = try await api.makeNetwork("other")
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 {
                    let path = network.path("providers")
                    group.addTask { try await network.call(.get, path).status }
                }
                try await waitUntil { pages.waiting == 18 }
                #expect(try await other.call(.get, "users").status == 200)
                #expect(try await api.call(.get, "/v1/networks", as: TestAPI.operatorToken).status == 200)
                #expect(try await network.call(.get, "users", as: TestAPI.operatorToken).status == 200)
                gate.open()
                for try await status in group { #expect(status == 200) }
            }
        }
    }

    @Test func `who proves nothing, and whose own users read, takes no permit of a network's`() async throws {
        let pages = PageSemaphore(connections: 6, processors: 4)
        try await withGate(pages) { api, gate, network in
            _ = try await network.call(.put, "users/alice", "{}")
            let events = try await api.makeKey("events", in: network)
            let path = network.path("providers")
            async let held = network.call(.get, path).status
            async let waiting = network.call(.get, path).status
            try await waitUntil { pages.taken == 2 }
            #expect(try await api.call(.get, path, as: "ck_wrong").status == 401)
            #expect(try await api.call(.get, path, as: events).status == 403)
            #expect(try await network.call(.get, "users/me/channels", as: network.token()).status == 200)
            #expect(pages.waiting == 0)
            gate.open()
            #expect(try await [held, waiting] == [200, 200])
        }
    }

    @Test func `a page that is refused or not found gives its permit back, and waiting ends`() async throws {
        let pages = PageSemaphore(connections: 6, processors: 4, patience: .milliseconds(20))
        try await withGate(pages) { api, gate, network in
            #expect(try await network.call(.get, "users?limit=0").status == 400)
            #expect(try await network.call(.get, "channels/c/members").status == 404)
            #expect(pages.taken == 0)
            async let one = network.call(.get, "providers").status
            async let two = network.call(.get, "providers").status
            try await waitUntil { pages.taken == 2 }
            #expect(try await network.call(.get, "users").status == 429)
            gate.open()
            #expect(try await [one, two] == [200, 200])
        }
    }

    /// Every list of the description has a page's answers, and needs a permit: what is added later does, too.
    @Test func `every route that takes a cursor needs a permit`() async throws {
        let pages = PageSemaphore(connections: 1, processors: 2, patience: .milliseconds(1))
        try await withGate(pages) { api, gate, network in
            async let held = network.call(.get, "providers").status
            try await waitUntil { pages.taken == 1 }
            let paged = try DescribedOperation.all(in: "openapi.yaml", mentioning: "components/parameters/Cursor")
            #expect(paged.count >= 18)
            for operation in paged where operation.path.contains("{network}") {
                let path = operation.path.replacing("{network}", with: network.id).replacing(/\{[^}]+\}/, with: "x")
                #expect(try await network.call(.get, path).status == 429, "\(operation)")
            }
            gate.open()
            #expect(try await held == 200)
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct PageThreadTests {
    #if os(Linux)
        @Test func `it is as nice as everything else`() async {
            let before = await Self.niceness()
            #expect(await withTaskExecutorPreference(PageThread()) { await Self.niceness() } == before)
        }
    #endif

    @Test func `tasks go on in the order in which they came, one at a time`() async {
        let thread = PageThread()
        let atWork = AtWork()
        let steps = await withTaskGroup(of: [Int].self) { group in
            for number in 0..<50 {
                group.addTask(executorPreference: thread) {
                    var seen: [Int] = []
                    for _ in 0..<20 {
                        seen.append(atWork.count.add(1, ordering: .relaxed).newValue)
                        atWork.count.subtract(1, ordering: .relaxed)
                        await Task.yield()
                    }
                    return seen + [number]
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(steps.allSatisfy { $0.dropLast().allSatisfy { $0 == 1 } })
        #expect(steps.map(\.last) == (0..<50).map(Optional.some))
    }

    private final class AtWork: Sendable {
        let count = Atomic(0)
    }

    /// How far the thread that this runs on stands back.
    @concurrent private static func niceness() async -> Int32 { nice(0) }
}
