import CarillonCore
import NIOCore
import NIOPosix

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Finds the addresses of names as the system would: in `/etc/hosts`, then with the name servers of `/etc/resolv.conf`.
///
/// `getaddrinfo` holds a thread for as long as a name server takes, which whoever owns the name can draw out: so a few names
/// keep all others waiting. Here a name that is not answered holds one descriptor for at most four seconds. Other sources of
/// `/etc/nsswitch.conf` are not asked (`docs/decisions/0012-own-resolver.md`).
struct DNSResolver: Sendable {
    /// How long each try may take. Servers get them in turn; one that was too slow has the answer at hand the next time.
    static let tries: [TimeAmount] = [.seconds(1), .milliseconds(1_500), .milliseconds(1_500)]

    private let settings: @Sendable () -> ResolverSettings
    private let versions: @Sendable () -> IPVersions
    private let socket: DNSSocket
    private let tries: [TimeAmount]

    init(
        settings: @escaping @Sendable () -> ResolverSettings,
        versions: @escaping @Sendable () -> IPVersions,
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        tries: [TimeAmount] = Self.tries
    ) {
        self.settings = settings
        self.versions = versions
        self.tries = tries
        socket = DNSSocket(group: group)
    }

    static var system: DNSResolver {
        let (files, machine) = (ResolverFiles(), MachineAddresses())
        return DNSResolver(settings: { files.settings }, versions: { machine.versions })
    }

    /// All addresses of a name, in the order in which to try them.
    /// - Throws: ``OutboundError/nameNotFound`` when no server knows the name, ``OutboundError/lookupFailed`` when none says,
    ///   ``OutboundError/busy`` when the machine has no socket left for it.
    func addresses(of name: String) async throws -> [IPAddress] {
        let (settings, versions) = (settings(), versions())
        if let known = settings.hosts[name] { return versions.order(known) }
        var failure = OutboundError.nameNotFound
        for candidate in settings.candidates(for: name) {
            switch try await answer(candidate, settings.servers, versions) {
            case .addresses(let addresses) where !addresses.isEmpty: return versions.order(addresses)
            case .addresses, .nameNotFound: continue
            case .failed, .notUnderstood, .truncated: failure = .lookupFailed
            }
        }
        throw failure
    }

    /// What the first server says that has anything to say.
    private func answer(_ name: String, _ servers: [SocketAddress], _ versions: IPVersions) async throws -> DNSAnswer {
        let questions = versions.recordTypes.map { DNSQuestion(name: name, type: $0) }
        var extended = true
        var answer: DNSAnswer?
        for (number, time) in tries.enumerated() {
            try Task.checkCancellation()
            let server = servers[number % servers.count]
            do {
                let answers = try await socket.ask(questions, at: server, extended: extended, for: time)
                var said = DNSAnswer(combining: answers.values)
                // What did not come may have the addresses.
                if said == .addresses([]), answers.count < questions.count { said = .failed }
                switch said {
                case .addresses, .nameNotFound: return said
                case .notUnderstood: extended = false
                case .failed, .truncated: break
                }
                answer = said
            } catch let error as IOError where error.isLackOfSockets {
                throw OutboundError.busy
            } catch {
                continue
            }
        }
        // A server that says nothing at all would say nothing to a longer name, either.
        guard let answer else { throw OutboundError.lookupFailed }
        return answer
    }
}

extension DNSAnswer {
    /// What the answers about the versions of IP say together: addresses if there are any.
    init(combining answers: some Collection<DNSAnswer>) {
        var addresses: [IPAddress] = []
        var worst = DNSAnswer.addresses([])
        for answer in answers {
            switch (answer, worst) {
            case (.addresses(let some), _): addresses += some
            case (.nameNotFound, .addresses): worst = answer
            case (.failed, _), (.notUnderstood, _), (.truncated, _): worst = answer
            case (.nameNotFound, _): break
            }
        }
        self = addresses.isEmpty ? worst : .addresses(addresses)
    }
}

extension IOError {
    /// Whether it is the machine that has none left, and not the name that has no addresses.
    fileprivate var isLackOfSockets: Bool { [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errnoCode) }
}
