import AsyncHTTPClient
import CarillonCore
import NIOCore
import NIOHTTP1
import NIOPosix

/// Looks at the two ports and at where webhooks may go.
struct NetworkChecks: Sendable {
    private static let longestAnswer = 1 << 20

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
            if await answer(of: path, at: address)?.status == 200 {
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
        guard let answer = await answer(of: "/health/ready", at: settings.managementListen) else { return nil }
        if answer.status == 200 { return .ok("service", "runs and is ready") }
        let reason = answer.detail ?? "GET /health/ready on the management port says why"
        return .fail("service", "runs, but is not ready (\(answer.status)): \(reason)")
    }

    /// What is answered with, and the problem's detail if it is one.
    private func answer(of path: String, at address: ListenAddress) async -> (status: UInt, detail: String?)? {
        guard address.port != 0 else { return nil }
        let request = HTTPClientRequest(url: "http://\(address)\(path)")
        guard let response = try? await HTTPClient.shared.execute(request, timeout: .seconds(3)) else { return nil }
        let body = try? await response.body.collect(upTo: Self.longestAnswer)
        let json = body.flatMap { try? JSONValue(parsing: Array($0.readableBytesView)) }
        guard case .object(let members)? = json, case .string(let detail)? = members["detail"] else {
            return (response.status.code, nil)
        }
        return (response.status.code, detail)
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
