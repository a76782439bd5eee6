import CarillonCore
import Foundation
import NIOCore
import Testing

@testable import PushHTTP

@Suite struct ResolverSettingsTests {
    private func settings(_ resolver: String = "", hosts: String = "") -> ResolverSettings {
        ResolverSettings(resolver: resolver, hosts: hosts)
    }

    @Test func `reads servers, domains and dots, and passes over the rest`() throws {
        let settings = settings(
            """
            # a comment
            nameserver 192.0.2.1 ; and another
            nameserver nonsense
            nameserver 2001:db8::1
            nameserver 192.0.2.2
            nameserver 192.0.2.3
            domain old.example
            search Svc.Cluster.Local. cluster.local
            options timeout:1 ndots:5 rotate
            sortlist 10.0.0.0
            nameserver
            """
        )
        let expected = try ["192.0.2.1", "2001:db8::1", "192.0.2.2"].map { try SocketAddress(ipAddress: $0, port: 53) }
        #expect(settings.servers == expected)
        #expect(settings.search == ["svc.cluster.local", "cluster.local"])
        #expect(settings.dots == 5)
    }

    @Test func `asks this machine when no server is named`() throws {
        let own = try SocketAddress(ipAddress: "127.0.0.1", port: 53)
        #expect(settings().servers == [own])
    }

    @Test func `reads hosts`() {
        let hosts = settings(
            hosts: "127.0.0.1 Localhost a.example # x\n::1 localhost\n bad line\n10.0.0.1\tb.example.\n"
        ).hosts
        #expect(hosts["localhost"] == [.v4(0x7F00_0001), .v6(1)])
        #expect(hosts["a.example"] == [.v4(0x7F00_0001)])
        #expect(hosts["b.example"] == [.v4(0x0A00_0001)])
        #expect(hosts.count == 3)
    }

    @Test(arguments: [
        ("a", ["a.x.example", "a.y", "a"]), ("a.b", ["a.b.x.example", "a.b.y", "a.b"]),
        ("a.b.c", ["a.b.c", "a.b.c.x.example", "a.b.c.y"]),
    ])
    func `completes short names first and long ones last`(name: String, expected: [String]) {
        #expect(settings("search x.example y\noptions ndots:2").candidates(for: name) == expected)
    }

    @Test func `makes no name that is too long`() {
        let long = String(repeating: "a", count: 250)
        #expect(settings("search x.example y").candidates(for: long) == ["\(long).y", long])
    }

    @Test func `reads the files again when they have changed`() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "names-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let (resolver, hosts) = (directory.appending(path: "resolv.conf"), directory.appending(path: "hosts"))
        let files = ResolverFiles(resolver: resolver.path, hosts: hosts.path)
        #expect(files.settings.hosts.isEmpty)
        try "10.0.0.1 a".write(to: hosts, atomically: true, encoding: .utf8)
        try "search b.example".write(to: resolver, atomically: true, encoding: .utf8)
        #expect(files.settings.hosts == ["a": [.v4(0x0A00_0001)]])
        #expect(files.settings.search == ["b.example"])
        try "10.0.0.2 a c".write(to: hosts, atomically: true, encoding: .utf8)
        #expect(files.settings.hosts["c"] == [.v4(0x0A00_0002)])
    }

    @Test func `tries both versions of IP by turns`() {
        let (a, b, c) = (IPAddress.v4(0x0101_0101), IPAddress.v4(0x0202_0202), IPAddress.v6(0x2600 << 112))
        #expect(IPVersions(hasIPv6: true, hasPublicIPv6: true).order([a, b, c]) == [c, a, b])
        #expect(IPVersions(hasIPv6: true, hasPublicIPv6: false).order([c, a, b]) == [a, c, b])
        #expect(IPVersions(hasIPv6: false, hasPublicIPv6: false).recordTypes == [.a])
    }
}
