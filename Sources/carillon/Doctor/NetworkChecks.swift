import CarillonCore
import PushHTTP

/// Looks at the two ports and at where webhooks may go.
struct NetworkChecks: Sendable {
    let settings: Settings

    func findings() async -> [Finding] {
        [
            await port(settings.listen, .listen, answeringAt: "/openapi.yaml"),
            await port(settings.managementListen, .managementListen, answeringAt: "/health/live"),
            await readiness(),
            egress,
        ].compactMap(\.self)
    }

    private func port(_ address: ListenAddress, _ setting: Setting, answeringAt path: String) async -> Finding {
        guard let obstacle = await ListenAddress.obstacles(of: [address]).first else {
            return .ok("port", "\(address) is free")
        }
        if await answer(of: path, at: address)?.status == 200 {
            return .ok("port", "\(address): a running Carillon answers")
        }
        return .fail(
            "port",
            "\(address) cannot be used (\(obstacle.reason)): stop what listens there or set \(setting.variable)"
        )
    }

    /// What a running service says of itself; `nil` when none runs.
    private func readiness() async -> Finding? {
        guard let answer = await answer(of: "/health/ready", at: settings.managementListen) else { return nil }
        if answer.status == 200 { return .ok("service", "runs and is ready") }
        let reason = answer["detail"]?.text ?? "GET /health/ready on the management port says why"
        return .fail("service", "runs, but is not ready (\(answer.status)): \(reason)")
    }

    /// What is answered with; `nil` when nobody answers.
    private func answer(of path: String, at address: ListenAddress) async -> RunningService.Answer? {
        guard address.port != 0 else { return nil }
        let service = try? RunningService(at: "http://\(address)", tls: settings.outboundTLS)
        return try? await service?.call(.get, path, timeout: .seconds(3))
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
