import CarillonCore
import CarillonDialects
import CarillonTesting

/// A network whose backend speaks a dialect, up to where texts are rendered.
struct Stage {
    private let scene: Scene
    private let store: MemoryStore
    private let ids = UUIDv7Generator()
    private let network = NetworkID(trusted: "acme")

    init(_ dialect: DialectName, imported: [UserID]) async throws {
        scene = Scene(dialect)
        store = MemoryStore(ids: ids)
        _ = try await store.createNetwork(
            NetworkCredentials(
                network: Network(id: network, createdAt: Scene.now),
                webhookSecrets: [],
                userTokenKeys: [],
                apiKeys: []
            ),
            answering: nil
        )
        for user in imported { _ = try await store.addMember(user, to: "general", in: network) }
    }

    /// Posts bodies, and answers who is told what.
    func tell(_ bodies: [String]) async throws -> [String] {
        var told: [String] = []
        for body in bodies {
            for event in try scene.read(body).known {
                let id = EventID(ids.next())
                let incoming = IncomingEvent(
                    networkID: network,
                    id: id,
                    receivedAt: Scene.now,
                    event: event,
                    body: event.canonicalJSON.serialized,
                    leased: true
                )
                guard case .accepted? = try await store.accept([incoming], lockWait: .seconds(1)).first else {
                    continue
                }
                guard event.notifies else { continue }
                let page = try await store.page(for: RecipientQuery(networkID: network, eventID: id, event: event))
                let judge = RecipientJudge(event, page)
                guard let subject = judge.subject else { continue }
                told += judge.concerned(page.recipients).map { "\($0.userID): \(subject.words)" }
            }
        }
        return told.sorted()
    }
}

extension NotificationSubject {
    fileprivate var words: String {
        switch self {
        case .channelCreated(let channel, _): "new \(channel)"
        case .memberJoined(let user, let channel, _, _): "\(user) joined \(channel)"
        case .messageSent(let user, let channel, _, let text, _): "\(user) in \(channel): \(text)"
        case .direct: "direct"
        }
    }
}
