import CarillonCore
import CarillonDialects
import CarillonTemplates
import CarillonTesting
import CarillonWebhooks
import Foundation
import Testing

/// A network whose backend speaks a dialect, and everybody's devices: what is posted goes through the whole pipeline.
struct Stage: Sendable {
    private let dialect: DialectName?
    private let webhookSecret = WebhookSecret.generate()
    private let scene: PipelineScene

    /// Runs the pipeline around `body`.
    ///
    /// - Parameters:
    ///   - telling: Whose backend it is.
    ///   - asleep: Who has switched notifications off.
    ///   - body: What happens.
    /// - Throws: What `body` throws.
    static func run(
        _ telling: Telling,
        asleep: UserID? = nil,
        _ body: @Sendable @escaping (Stage) async throws -> Void
    ) async throws {
        try await StoreScene.withStores { store, _ in
            let scene = try PipelineScene(store: store, catalog: catalog.get())
            for name in ["alice", "bob", "carol", "dave"] {
                let device = Device(DeviceID(trusted: name), of: UserID(trusted: name))
                _ = try await store.devices.putDevice(device, in: scene.network)
            }
            for user in telling.imported {
                _ = try await store.directory.addMember(user, to: "general", in: scene.network)
            }
            if let asleep {
                try await store.toggles.set(.user(asleep), to: ["enabled": false], in: scene.network)
            }
            try await scene.whileRunning { try await body(Stage(dialect: telling.dialect, scene: scene)) }
        }
    }

    /// What the service says without templates of a network's own.
    private static let catalog = Result {
        try TemplateCatalog(
            directory: URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Templates").path
        )
    }

    private init(dialect: DialectName?, scene: PipelineScene) {
        self.dialect = dialect
        self.scene = scene
    }

    /// Posts bodies, and answers what was sent to whom.
    func tell(_ step: Telling.Step) async throws -> [String] {
        var told: [String] = []
        for post in step.posts {
            let events = try dialect.map { try read(post, $0) } ?? native(post)
            for receipt in try await scene.ingestor.accept(events, for: scene.network) where receipt.status == .accepted
            {
                _ = try await scene.finished(receipt.id)
                told += scene.provider.sent(for: receipt.id).map {
                    "\($0.device): \($0.notification.title) | \($0.notification.body)"
                }
            }
        }
        return told.sorted()
    }

    private func native(_ post: Telling.Post) throws -> [ParsedEvent] {
        let body = Array(post.body.utf8)
        let moment = WallClock.system.now().milliseconds / 1000
        try Webhook(webhookSecret.signing).verify(
            body,
            id: "w",
            timestamp: String(moment),
            signature: WebhookSignature.sign(id: "w", timestamp: moment, body: body, secrets: [webhookSecret])
        )
        switch try EventParser(clock: .system).parse(body: body, fallbackSourceID: nil) {
        case .single(let event): return [event]
        case .batch(let events): return events
        }
    }

    private func read(_ post: Telling.Post, _ name: DialectName) throws -> [ParsedEvent] {
        let dialect = Dialects.named(name)
        let now = WallClock.system.now()
        let request = Prover.request(post, name, at: now)
        var document = Prover.document(name)
        try dialect.verify(request, document, now: now)
        document.secrets.removeLast()
        document.basic?.password = Secret("another")
        #expect(throws: DialectRefusal.self) { try dialect.verify(request, document, now: now) }
        return try dialect.events(of: request, DialectSettings(document.settings), now: now).events.map(\.parsed)
    }
}
