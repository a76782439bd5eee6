import Foundation
import Subprocess

/// A user of a network whose webhooks are at hosts whose name server never answers.
///
/// The service reads a `/etc/resolv.conf` of its own in a mount namespace, which takes root.
struct SilentNames: Neighbour {
    /// Where to write what the service shall read as `/etc/resolv.conf`.
    let resolvConf: String

    private static let names = 64
    private static let interval = Duration.seconds(2)

    var launcher: [String] {
        ["unshare", "--mount", "sh", "-c", #"mount --bind "$0" /etc/resolv.conf && exec "$@""#, resolvConf]
    }

    /// Each message goes to a name that nobody has looked up before.
    var innocent: Innocent.Plan {
        Innocent.Plan(channels: 2_000) { "host-\($0).\(NameServer.answered)" }
    }

    var promise: Promise { Promise(factor: 3, extra: 1) }

    func withSurroundings<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        let text = "nameserver \(NameServer.address)\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: resolvConf))
        return try await NameServer.withServer(body)
    }

    func prepare(_ network: TestNetwork, _ scene: Scene) async throws {
        var lines = #"{"channel":{"id":"c"}}"# + "\n" + #"{"user":{"id":"u"}}"# + "\n"
        lines += #"{"member":{"channelId":"c","userId":"u"}}"# + "\n"
        for number in 0..<scene.scaled(Self.names) {
            let url = "http://host-\(number).\(NameServer.silent):\(scene.webhookPort)/prompt"
            lines += #"{"device":{"id":"d-\#(number)","userId":"u","provider":"webhook","url":"\#(url)"}}"# + "\n"
        }
        _ = try await network.importing(Array(lines.utf8), in: scene.service).expecting(200)
    }

    func misbehave(_ network: TestNetwork, _ scene: Scene) async throws {
        let poster = Poster(network: network, in: scene)
        var number = 0
        while !Task.isCancelled {
            number += 1
            try await poster.post("silent-\(number)", channel: "c")
            try? await Task.sleep(for: Self.interval)
        }
    }
}
