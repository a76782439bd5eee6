import NIOCore
import NIOPosix

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension ListenAddress {
    /// Why nobody could listen on some addresses at once, each with its place; none is held afterwards.
    static func obstacles(of addresses: [ListenAddress]) async -> [(index: Int, reason: String)] {
        var obstacles: [(index: Int, reason: String)] = []
        var channels: [any Channel] = []
        for (index, address) in addresses.enumerated() {
            do {
                let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                    // Whoever comes so early would not be answered by anybody.
                    .childChannelInitializer { $0.close() }
                    .bind(host: address.host, port: address.port).get()
                channels.append(channel)
            } catch {
                obstacles.append((index, reason(error)))
            }
        }
        for channel in channels { try? await channel.close() }
        return obstacles
    }

    /// What went wrong, in the system's words where it was the system.
    static func reason(_ error: any Error) -> String {
        if let error = error as? SocketAddressError.UnknownHost { return "there is no host \(error.host)" }
        guard let error = error as? IOError else { return "\(error)" }
        let words = String(cString: strerror(error.errnoCode))
        return switch error.errnoCode {
        case EADDRINUSE: "\(words): stop what listens there, or choose another"
        case EADDRNOTAVAIL: "\(words): it is none of this machine's"
        case EACCES: "\(words): choose a port from 1024 on, or let this account have it"
        default: words
        }
    }
}

extension Settings {
    /// Passes where both ports can be listened on.
    func checkPorts() async throws(ConfigurationError) {
        let ports = [(Setting.listen, listen), (.managementListen, managementListen)]
        let mistakes = await ListenAddress.obstacles(of: ports.map(\.1)).map { index, reason in
            ConfigurationError.cannotListen(ports[index].0, ports[index].1, reason)
        }
        guard mistakes.isEmpty else { throw ConfigurationError(mistakes: mistakes) }
    }
}

extension ConfigurationError {
    static func cannotListen(_ setting: Setting, _ address: ListenAddress, _ reason: String) -> String {
        "\(setting.variable): cannot listen on \(address): \(reason)"
    }
}
