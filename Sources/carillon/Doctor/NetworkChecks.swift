import AsyncHTTPClient
import CarillonCore
import NIOCore
import NIOHTTP1
import NIOPosix

/// Looks at the two ports and at where webhooks may go.
struct NetworkChecks: Sendable {
    private let settings: Settings

    init(_ settings: Settings) {
        self.settings = settings
    }

    func findings() async -> [Finding] {
        [
            await port(settings.listen, .listen, answeringAt: "/openapi.yaml"),
            await port(settings.managementListen, .managementListen, answeringAt: "/health/live"),
            await readiness(),
            egress,
        ].compactMap(\.self)
    }

    private func port(_ address: ListenAddress, _ setting: Setting, answeringAt path: String) async -> Finding {
        do {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: address.host, port: address.port).get()
            try await channel.close()
            return .ok("port", "\(address) is free")
        } catch {
            if await status(of: path, at: address) == 200 {
                return .ok("port", "\(address): a running Carillon answers")
            }
            return .fail(
                "port",
                "\(address) cannot be used (\(error)): stop what listens there or set \(setting.variable)"
            )
        }
    }

    /// What a running service says of itself; `nil` when none runs.
    private func readiness() async -> Finding? {
        switch await status(of: "/health/ready", at: settings.managementListen) {
        case nil: nil
        case 200: .ok("service", "runs and is ready")
        case let status?:
            .fail("service", "runs, but is not ready (\(status)): GET /health/ready on the management port says why")
        }
    }

    private func status(of path: String, at address: ListenAddress) async -> UInt? {
        guard address.port != 0 else { return nil }
        let request = HTTPClientRequest(url: "http://\(address)\(path)")
        return try? await HTTPClient.shared.execute(request, timeout: .seconds(3)).status.code
    }

    private var egress: Finding {
        let blocks = settings.egressAllow
        guard !blocks.isEmpty else { return .ok("egress", "webhooks reach public addresses only") }
        let list = blocks.map(\.description).joined(separator: ", ")
        if let all = blocks.first(where: { $0.prefixLength == 0 }) {
            return .warn("egress", "\(all) lets webhooks reach everything inside: name the blocks that they need")
        }
        return .ok("egress", "webhooks also reach \(list)")
    }
}
