import Foundation
import Logging
import NIOCore
import NIOPosix
import Synchronization

struct Listeners: Sendable {
    /// Which server a port belongs to, once that is known: servers know their own addresses.
    final class Slot: Sendable {
        private let server = Mutex<(any PushServer)?>(nil)

        var current: (any PushServer)? { server.withLock { $0 } }

        func assign(_ server: any PushServer) {
            self.server.withLock { $0 = server }
        }
    }

    private struct OpenPort {
        let channel: any Channel
        let slot: Slot
    }

    /// The address to listen on, which is also the host of every URL.
    private static let host = "127.0.0.1"

    private let proxyPorts: [SimulatedService: Int]
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private var open: [SimulatedService: OpenPort] = [:]

    private init(_ configuration: SimulatorConfiguration) {
        proxyPorts = configuration.proxyPorts
    }

    /// Opens all ports; connections are accepted after ``assign(_:)``.
    static func open(
        _ configuration: SimulatorConfiguration,
        authority: CertificateAuthority,
        logger: Logger
    ) async throws -> Listeners {
        let certificate = try authority.issueServer(
            names: ["localhost"],
            addresses: [[127, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]]
        )
        let apple = try ServerTLS.context(
            certificate,
            authority: authority.pem,
            clients: configuration.clientCertificates,
            protocols: ["h2"]
        )
        let web = try ServerTLS.context(
            certificate,
            authority: authority.pem,
            clients: .none,
            protocols: ["h2", "http/1.1"]
        )
        var listeners = Listeners(configuration)
        do {
            for (service, port) in configuration.ports {
                let isApple = service == .apnsProduction || service == .apnsSandbox
                let slot = Slot()
                let listener = PushListener(slot: slot, tls: isApple ? apple : web, logger: logger)
                try await listeners.open(service, port: port, listener)
            }
        } catch {
            await listeners.close()
            throw error
        }
        return listeners
    }

    private mutating func open(_ service: SimulatedService, port: Int, _ listener: PushListener) async throws {
        do {
            let channel = try await listener.bind(host: Self.host, port: port, group: group)
            open[service] = OpenPort(channel: channel, slot: listener.slot)
        } catch let error as IOError {
            throw SimulatorError.cannotListen(service, port: port, reason: String(cString: strerror(error.errnoCode)))
        }
    }

    /// Lets connections in.
    func assign(_ servers: [SimulatedService: any PushServer]) {
        for (service, server) in servers { open[service]?.slot.assign(server) }
    }

    /// Ends the ports and all connections.
    func close() async {
        for port in open.values { try? await port.channel.close() }
        try? await group.shutdownGracefully()
    }

    var urls: SimulatorURLs {
        SimulatorURLs(
            apnsProduction: url(.apnsProduction),
            apnsSandbox: url(.apnsSandbox),
            fcm: url(.fcm),
            webPush: url(.webPush)
        )
    }

    private func url(_ service: SimulatedService) -> String {
        let port = proxyPorts[service] ?? open[service]?.channel.localAddress?.port ?? 0
        return "https://\(Self.host):\(port)"
    }
}

extension SimulatorConfiguration {
    fileprivate var ports: [SimulatedService: Int] {
        [
            .apnsProduction: apnsProductionPort, .apnsSandbox: apnsSandboxPort, .fcm: fcmPort, .webPush: webPushPort,
        ]
    }
}
