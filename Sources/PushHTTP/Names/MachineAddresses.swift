import CarillonCore
import NIOCore
import Synchronization

/// Which versions of IP a machine speaks.
struct IPVersions: Sendable, Equatable {
    /// Whether it has an IPv6 address that leads off it.
    var hasIPv6: Bool
    var hasPublicIPv6: Bool

    /// Of a machine that does not tell its addresses, as in a sandbox without `AF_NETLINK`.
    static let unknown = IPVersions(hasIPv6: true, hasPublicIPv6: false)

    var recordTypes: [DNSQuestion.RecordType] { hasIPv6 ? [.a, .aaaa] : [.a] }

    /// The order in which to try addresses: both versions by turns, IPv6 first where it leads into the Internet (RFC 6724
    /// section 2.1, RFC 8305 section 4).
    func order(_ addresses: [IPAddress]) -> [IPAddress] {
        let v4 = addresses.filter { if case .v4 = $0.canonical { true } else { false } }
        let v6 = addresses.filter { if case .v6 = $0.canonical { true } else { false } }
        let (first, second) = hasPublicIPv6 ? (v6, v4) : (v4, v6)
        let paired = zip(first, second).flatMap { [$0, $1] }
        return paired + first.dropFirst(second.count) + second.dropFirst(first.count)
    }
}

/// Looks now and then which addresses this machine has.
final class MachineAddresses: Sendable {
    private static let memory = Duration.seconds(60)

    private let state = Mutex<(versions: IPVersions, readAt: ContinuousClock.Instant)?>(nil)

    /// What it speaks, as of a minute ago at the most.
    var versions: IPVersions {
        state.withLock { state in
            let now = ContinuousClock.now
            if let state, now - state.readAt < Self.memory { return state.versions }
            let versions = Self.read()
            state = (versions, now)
            return versions
        }
    }

    private static func read() -> IPVersions {
        // Where nobody says, both are tried.
        guard let devices = try? System.enumerateDevices() else { return .unknown }
        let texts = devices.compactMap { $0.address?.ipAddress }
        // A link-local address comes with its zone.
        let addresses = texts.compactMap { IPAddress(String($0.prefix { $0 != "%" })) }
        let routable = addresses.filter { address in
            guard case .v6(let value) = address else { return false }
            return value != 1 && value >> 118 != 0xFE80 >> 6
        }
        return IPVersions(hasIPv6: !routable.isEmpty, hasPublicIPv6: routable.contains(where: \.isPublic))
    }
}
