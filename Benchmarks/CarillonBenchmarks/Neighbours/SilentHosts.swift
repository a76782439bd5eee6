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
        let devices = (0..<hosts).flatMap { host in
            let address = hosts == 1 ? "127.0.0.1" : "127.1.\(host / 250).\(1 + host % 250)"
            return (0..<urls).map { number in
                #""provider":"webhook","url":"http://\#(address):\#(scene.webhookPort)/silent/\#(number)""#
            }
        }
        try await network.importMember(devices: devices, in: scene.service)
    }

    func misbehave(_ network: TestNetwork, _ scene: Scene) async throws {
        try await Poster(network: network, in: scene).keepPosting("silent", every: Self.interval)
    }
}
