import ArgumentParser
import CarillonCore
import CarillonSimulator
import UnixSignals

/// `carillon simulate`: plays Apple's, Google's and a browser vendor's push services.
struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Play Apple's, Google's and a browser vendor's push services until SIGTERM or SIGINT.",
        discussion: """
            Prints what to set for `carillon serve` and what to register, then one line for each notification. What a \
            device's token begins with says how it fails: docs/simulator.md has the table.
            """
    )

    @Option(help: "Where APNs for production listens; 0 takes a free port.")
    var apnsPort = 0

    @Option(help: "Where APNs for development listens; 0 takes a free port.")
    var apnsSandboxPort = 0

    @Option(help: "Where FCM and its token endpoint listen; 0 takes a free port.")
    var fcmPort = 0

    @Option(help: "Where Web Push listens; 0 takes a free port.")
    var webPushPort = 0

    @Option(help: "The port of a proxy before FCM, which clients are told in place of its own.")
    var fcmProxyPort: Int?

    @Option(help: "The port of a proxy before Web Push, likewise.")
    var webPushProxyPort: Int?

    @Option(help: ArgumentHelp("How long every answer waits, in milliseconds.", valueName: "ms"))
    var delay = 0

    @Option(help: ArgumentHelp("How many streams a connection may have open at once.", valueName: "count"))
    var streams = 1000

    @Option(help: ArgumentHelp("After how many streams a connection gets GOAWAY.", valueName: "count"))
    var goAwayAfter: Int?

    @Option(help: ArgumentHelp("The app that the example devices have.", valueName: "id"))
    var appId = "com.example.chat"

    @Option(help: ArgumentHelp("Where generated files are kept; without it they go at the end.", valueName: "path"))
    var directory: String?

    @Flag(help: "Write each notification as a line of JSON, with what was sent, decrypted.")
    var json = false

    @Flag(help: "Accept whoever is authenticated, unread and without a line: for benchmarks.")
    var constant = false

    func validate() throws {
        let proxyPorts = [fcmProxyPort, webPushProxyPort].compactMap(\.self)
        for port in [apnsPort, apnsSandboxPort, fcmPort, webPushPort] + proxyPorts where !(0...65_535).contains(port) {
            throw ValidationError("a port is a number from 0 to 65535")
        }
        guard (0...3_600_000).contains(delay) else { throw ValidationError("--delay is at most an hour") }
        guard (1...Int(Int32.max)).contains(streams) else { throw ValidationError("--streams is at least 1") }
        if let goAwayAfter, goAwayAfter < 1 { throw ValidationError("--go-away-after is at least 1") }
    }

    func run() async throws {
        try await reportingErrors {
            let terminal = Terminal()
            try await Simulator.withSimulator(simulatorConfiguration) { simulator in
                show(try simulator.writeFiles(appID: appId), terminal)
                await showNotifications(of: simulator, terminal)
            }
        }
    }

    private var simulatorConfiguration: SimulatorConfiguration {
        var configuration = SimulatorConfiguration()
        configuration.apnsProductionPort = apnsPort
        configuration.apnsSandboxPort = apnsSandboxPort
        configuration.fcmPort = fcmPort
        configuration.webPushPort = webPushPort
        configuration.proxyPorts[.fcm] = fcmProxyPort
        configuration.proxyPorts[.webPush] = webPushProxyPort
        configuration.maximumConcurrentStreams = streams
        configuration.directory = directory
        configuration.recordLimit = 1000
        configuration.detail = constant ? .counts : .everything
        configuration.disturbances.delay = .milliseconds(delay)
        configuration.disturbances.goAwayAfterStreams = goAwayAfter
        return configuration
    }

    private func show(_ files: SimulatorFiles, _ terminal: Terminal) {
        terminal.line(terminal.styled("Set for `carillon serve`", .bold) + " (or: . \(files.environmentFile))")
        for (name, value) in files.environment { terminal.line("  \(name)=\(value)") }
        terminal.line(terminal.styled("Credentials", .bold))
        terminal.line("  PUT /providers/apns/apps/\(appId)  @\(files.apnsCredential)")
        terminal.line("  PUT /providers/fcm/apps/\(appId)   @\(files.fcmCredential)")
        terminal.line("  PUT /providers/webpush  @\(files.webPushCredential)")
        terminal.line(terminal.styled("The network", .bold) + ", for its browsers to be here")
        terminal.line(#"  PATCH /v1/networks/{network}  {"webPushHosts":["default","127.0.0.1"]}"#)
        terminal.line(terminal.styled("Devices of the user alice", .bold))
        for device in files.devices { terminal.line("  PUT /devices/\(device.name)  @\(device.path)") }
        terminal.line()
    }

    private func showNotifications(of simulator: Simulator, _ terminal: Terminal) async {
        let notifications = simulator.received.stream()
        let json = json
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await notification in notifications {
                    let line = NotificationLine(notification: notification)
                    terminal.line(json ? notification.json.serializedText : line.text(terminal))
                }
            }
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { return }
            }
            await group.next()
            group.cancelAll()
        }
    }
}

extension ReceivedNotification {
    /// The notification as programs read it.
    fileprivate var json: JSONValue {
        [
            "at": .string((Timestamp.epoch + receivedAt).description),
            "service": .string(service.rawValue),
            "device": .string(deviceToken),
            "status": JSONValue(status),
            "reason": JSONValue(reason),
            "notificationId": JSONValue(notificationID),
            "title": JSONValue(title),
            "body": JSONValue(body),
            "payload": .string(String(decoding: payload, as: UTF8.self)),
        ]
    }
}

/// A notification as people read it.
private struct NotificationLine {
    private static let tokenLength = 20
    let notification: ReceivedNotification

    func text(_ terminal: Terminal) -> String {
        let status = notification.status.map { String($0) } ?? "---"
        let style: Terminal.Style = notification.isAccepted ? .green : .red
        var parts = [terminal.styled(status, style), notification.service.rawValue.padded(to: 15), device]
        parts.append(notification.notificationID ?? "-")
        if let reason = notification.reason { parts.append(reason) }
        if let title = notification.title { parts.append(terminal.styled(title.withoutControls, .bold)) }
        if let body = notification.body { parts.append(body.withoutControls) }
        return parts.joined(separator: "  ")
    }

    /// What a device's token begins with; of an endpoint the last part.
    private var device: String {
        let name = notification.deviceToken.split(separator: "/").last ?? ""
        return name.count > Self.tokenLength ? "\(name.prefix(Self.tokenLength))…" : String(name)
    }
}

extension String {
    /// This text as one line that cannot steer a terminal: what users write is shown to somebody else.
    fileprivate var withoutControls: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }
}
