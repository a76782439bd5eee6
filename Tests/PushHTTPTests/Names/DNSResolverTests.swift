import CarillonTesting
import CarillonCore
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import PushHTTP

@Suite(.timeLimit(.minutes(1))) struct DNSResolverTests {
    private static let both = IPVersions(hasIPv6: true, hasPublicIPv6: true)
    private static let v4 = IPAddress.v4(0x0101_0101)
    private static let v6 = IPAddress.v6(0x2606 << 112 | 1)

    /// A resolver that asks these servers; its tries are so long that only silence ends one.
    private func resolver(
        _ servers: SocketAddress...,
        search: String = "",
        hosts: String = "",
        versions: IPVersions = both,
        tries: [TimeAmount] = [.seconds(20), .seconds(20), .seconds(20)]
    ) -> DNSResolver {
        var settings = ResolverSettings(resolver: search, hosts: hosts)
        settings.servers = servers
        return DNSResolver(settings: { [settings] in settings }, versions: { versions }, tries: tries)
    }

    @Test func `finds the addresses of both versions, each time by another id and from another port`() async throws {
        try await FakeNameServer.answering({ [$0.answer([Self.v4, Self.v6])] }) { server, address in
            for _ in 0..<20 {
                let found = try await resolver(address).addresses(of: "hook.example")
                #expect(found == [Self.v6, Self.v4])
            }
            let queries = server.queries
            #expect(queries.count == 40)
            #expect(queries.allSatisfy { $0.name == "hook.example" && $0.isExtended && !$0.overTCP })
            #expect(Set(queries.map(\.id)).count > 30)
            #expect(Set(queries.map(\.port)).count > 10)
        }
    }

    @Test func `does not ask for a version that the machine does not speak`() async throws {
        try await FakeNameServer.answering({ [$0.answer([Self.v4, Self.v6])] }) { server, address in
            let versions = IPVersions(hasIPv6: false, hasPublicIPv6: false)
            let found = try await resolver(address, versions: versions).addresses(of: "hook.example")
            #expect(found == [Self.v4])
            #expect(server.queries.map(\.type) == [1])
        }
    }

    @Test func `waits for the answer to its own question, whatever else comes`() async throws {
        try await FakeNameServer.answering { query in
            [
                ByteBuffer(string: "garbage"), ByteBuffer(), query.head(id: query.id &+ 1),
                query.head(name: "evil.example"),
                query.head(flags: 0x0100), query.answer([Self.v4]),
            ]
        } during: { _, address in
            let found = try await resolver(address).addresses(of: "hook.example")
            #expect(found == [Self.v4])
        }
    }

    @Test func `asks again over TCP when the answer did not fit`() async throws {
        try await FakeNameServer.answering {
            $0.overTCP ? [$0.answer([Self.v4, Self.v6])] : [$0.head(flags: 0x8380)]
        } during: { server, address in
            let found = try await resolver(address).addresses(of: "hook.example")
            #expect(found == [Self.v6, Self.v4])
            #expect(server.queries.map(\.overTCP) == [false, false, true, true])
        }
    }

    @Test func `asks without EDNS when a server does not understand it`() async throws {
        try await FakeNameServer.answering {
            $0.isExtended ? [$0.head(flags: 0x8181)] : [$0.answer([Self.v4])]
        } during: { _, address in
            let found = try await resolver(address).addresses(of: "hook.example")
            #expect(found == [Self.v4])
        }
    }

    @Test func `asks the next server when one is silent, refuses, or is not there`() async throws {
        let nobody = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
        try await FakeNameServer.answering({ _ in [] }) { _, silent in
            try await FakeNameServer.answering({ [$0.head(flags: 0x8185)] }) { _, refusing in
                try await FakeNameServer.answering({ [$0.answer([Self.v4])] }) { _, good in
                    let tries: [TimeAmount] = [.milliseconds(100), .seconds(20), .seconds(20)]
                    let resolver = resolver(silent, refusing, good, tries: tries)
                    let found = try await resolver.addresses(of: "hook.example")
                    #expect(found == [Self.v4])
                    let beside = try await self.resolver(nobody, good).addresses(of: "hook.example")
                    #expect(beside == [Self.v4])
                }
            }
        }
    }

    @Test func `uses the addresses that came when the other version is not answered`() async throws {
        try await FakeNameServer.answering({ $0.type == 1 ? [$0.answer([Self.v4])] : [] }) { _, address in
            // The first try in which an answer comes is the last one.
            let resolver = resolver(address, tries: [.milliseconds(200), .seconds(2), .seconds(20)])
            let found = try await resolver.addresses(of: "hook.example")
            #expect(found == [Self.v4])
        }
    }

    @Test func `asks again when an answer is lost and the other version has no addresses`() async throws {
        let lost = Mutex(1)
        try await FakeNameServer.answering { query in
            guard query.type == 1 else { return [query.head()] }
            let isLost = lost.withLock { left in
                left -= 1
                return left >= 0
            }
            return isLost ? [] : [query.answer([Self.v4])]
        } during: { server, address in
            let resolver = resolver(address, tries: [.milliseconds(200), .seconds(20)])
            let found = try await resolver.addresses(of: "hook.example")
            #expect(found == [Self.v4])
            // A name is not unknown since one answer was lost each time.
            lost.withLock { $0 = .max }
            let silent = self.resolver(address, tries: [.milliseconds(200), .milliseconds(200)])
            await #expect(throws: OutboundError.lookupFailed) { _ = try await silent.addresses(of: "hook.example") }
        }
    }

    @Test func `tells a name that does not exist from one that nobody answers for`() async throws {
        try await FakeNameServer.answering {
            switch $0.name {
            case "unknown.example": [$0.head(flags: 0x8183)]
            case "empty.example": [$0.head()]
            case "broken.example": [$0.head(flags: 0x8182)]
            default: []
            }
        } during: { _, address in
            for (name, error) in [
                ("unknown.example", OutboundError.nameNotFound), ("empty.example", .nameNotFound),
                ("broken.example", .lookupFailed), ("silent.example", .lookupFailed),
            ] {
                let time = TimeAmount.milliseconds(name == "silent.example" ? 50 : 20_000)
                let resolver = resolver(address, tries: [time, time])
                await #expect(throws: error, "\(name)") { _ = try await resolver.addresses(of: name) }
            }
        }
    }

    @Test func `completes short names, and goes on until one has addresses`() async throws {
        try await FakeNameServer.answering {
            $0.name == "intranet.b.example" ? [$0.answer([Self.v4])] : [$0.head(flags: 0x8183)]
        } during: { server, address in
            let resolver = resolver(address, search: "search a.example b.example c.example")
            let found = try await resolver.addresses(of: "intranet")
            #expect(found == [Self.v4])
            #expect(Set(server.queries.map(\.name)) == ["intranet.a.example", "intranet.b.example"])
        }
    }

    @Test func `asks nobody for names that this machine knows itself`() async throws {
        try await FakeNameServer.answering({ _ in [] }) { server, address in
            let resolver = resolver(address, hosts: "10.1.2.3 printer")
            let found = try await resolver.addresses(of: "printer")
            #expect(found == [.v4(0x0A01_0203)])
            #expect(server.queries.isEmpty)
        }
    }

    @Test func `a healthy name is found at once beside many whose server never answers`() async throws {
        try await FakeNameServer.answering {
            $0.name.hasPrefix("silent") ? [] : [$0.answer([Self.v4])]
        } during: { server, address in
            let names = resolver(address, tries: [.seconds(20)])
            var limits = NameResolver.Limits()
            limits.time = .seconds(50)
            let resolver = NameResolver(limits: limits) { try await names.addresses(of: $0) }
            let loop = MultiThreadedEventLoopGroup.singleton.next()
            let (acme, other) = (NetworkID(trusted: "acme"), NetworkID(trusted: "other"))
            for number in 0..<64 { _ = resolver.addresses(of: "silent\(number).example", for: acme, on: loop) }
            try await waitUntil { server.queries.count >= 64 }
            // Each of them goes on waiting for tens of seconds.
            for network in [acme, other] {
                let found = try await resolver.addresses(of: "healthy.\(network)", for: network, on: loop).get()
                #expect(found == [Self.v4])
            }
            #expect(resolver.running == 64)
        }
    }
}
