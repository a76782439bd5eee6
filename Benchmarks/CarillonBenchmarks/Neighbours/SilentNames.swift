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
        let devices = (0..<scene.scaled(Self.names)).map { number in
            let url = "http://host-\(number).\(NameServer.silent):\(scene.webhookPort)/prompt"
            return #""provider":"webhook","url":"\#(url)""#
        }
        try await network.importMember(devices: devices, in: scene.service)
    }

    func misbehave(_ network: TestNetwork, _ scene: Scene) async throws {
        try await Poster(network: network, in: scene).keepPosting("silent", every: Self.interval)
    }
}
