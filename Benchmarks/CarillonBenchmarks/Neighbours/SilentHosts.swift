/// A user of a network whose webhooks are taken and never answered.
struct SilentHosts: Neighbour {
    /// How many hosts there are; each has an address of its own.
    let hosts: Int
    /// How many devices there are for each host.
    let urlsOfEach: Int

    private static let interval = Duration.seconds(2)

    func prepare(_ network: TestNetwork, _ scene: Scene) async throws {
        // One host is the one at which the innocent network's webhooks are answered.
        let hosts = hosts == 1 ? 1 : scene.scaled(hosts)
        let urls = hosts == 1 ? scene.scaled(urlsOfEach) : urlsOfEach
        var lines = #"{"channel":{"id":"c"}}"# + "\n" + #"{"user":{"id":"u"}}"# + "\n"
        lines += #"{"member":{"channelId":"c","userId":"u"}}"# + "\n"
        for host in 0..<hosts {
            let address = hosts == 1 ? "127.0.0.1" : "127.1.\(host / 250).\(1 + host % 250)"
            for number in 0..<urls {
                let url = "http://\(address):\(scene.webhookPort)/silent/\(number)"
                lines += #"{"device":{"id":"d-\#(host)-\#(number)","userId":"u","provider":"webhook","url":"\#(url)"}}"#
                lines += "\n"
            }
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
