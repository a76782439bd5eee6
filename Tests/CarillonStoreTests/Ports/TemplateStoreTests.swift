import CarillonCore
import CarillonTesting
import Testing

/// What ``TemplateStore`` promises.
@Suite(.stores) struct TemplateStoreTests {
    let scene = StoreScene.here

    @Test func `a network without templates has none to list or remove`() async throws {
        #expect(try await scene.templates.templates(in: scene.network).isEmpty)
        #expect(try await scene.templates.deleteTemplate(.messageSent, locale: "en", in: scene.network) == false)
    }

    @Test func `templates are read back by event type and locale`() async throws {
        let variants = TemplateWording.variants([.text: "%s", .image: "\"Image\"\n"])
        #expect(try await scene.put(.messageSent, "th", .one("B"), in: scene.network))
        #expect(try await scene.put(.messageSent, "en", variants, in: scene.network))
        #expect(try await scene.put(.channelCreated, "en", .one("C"), in: scene.network))
        let stored = try await scene.templates.templates(in: scene.network)
        #expect(stored.map(\.eventType) == [.channelCreated, .messageSent, .messageSent])
        #expect(stored.map(\.locale) == ["en", "en", "th"])
        #expect(stored.map(\.source.body) == [.one("C"), variants, .one("B")])
        #expect(stored.map(\.updatedAt) == Array(repeating: .seconds(0), count: 3))
        #expect(try await scene.templates.templates(in: scene.otherNetwork).isEmpty)
    }

    @Test func `a template is new once, replaced and removed`() async throws {
        #expect(try await scene.put(.messageSent, "en", .one("A"), in: scene.network))
        #expect(try await scene.put(.messageSent, "en", .one("B"), in: scene.network) == false)
        #expect(try await scene.templates.templates(in: scene.network).map(\.source.body) == [.one("B")])
        #expect(try await scene.templates.deleteTemplate(.messageSent, locale: "en", in: scene.network))
        #expect(try await scene.templates.deleteTemplate(.messageSent, locale: "en", in: scene.network) == false)
        #expect(try await scene.put(.messageSent, "en", .one("A"), in: scene.network))
    }

    @Test func `a network has no more templates than it may have`() async throws {
        try await scene.setLimits { $0.templates = 3 }
        let locales = ["de", "en", "fr", "it", "ja", "ko", "pl", "pt", "ru", "th"]
        let written = try await inParallel(locales.count) { number -> Bool in
            do {
                return try await scene.put(.messageSent, locales[number], .one("A"), in: scene.network)
            } catch is LimitReached {
                return false
            }
        }
        #expect(written.count { $0 } == 3)
        let stored = try await scene.templates.templates(in: scene.network)
        #expect(stored.count == 3)
        let kept = try #require(stored.first)
        #expect(try await scene.put(.messageSent, kept.locale, .one("B"), in: scene.network) == false)
        await #expect(throws: LimitReached(.templates, 3)) {
            try await scene.put(.channelCreated, "en", .one("A"), in: scene.network)
        }
        #expect(try await scene.put(.channelCreated, "en", .one("A"), in: scene.otherNetwork))
        _ = try await scene.templates.deleteTemplate(.messageSent, locale: kept.locale, in: scene.network)
        #expect(try await scene.put(.channelCreated, "en", .one("A"), in: scene.network))
    }
}

extension StoreScene {
    /// Changes how much the network may use up.
    func setLimits(_ change: @escaping @Sendable (inout NetworkLimits) -> Void) async throws {
        _ = try await accounts.updateNetwork(network) { network in
            var network = network
            change(&network.limits)
            return network
        }
    }

    fileprivate func put(
        _ type: EventType,
        _ locale: String,
        _ body: TemplateWording,
        in network: NetworkID
    ) async throws -> Bool {
        let source = TemplateSource(title: "Title", body: body)
        let template = TemplateOverride(eventType: type, locale: locale, source: source, updatedAt: .seconds(0))
        return try await templates.putTemplate(template, in: network)
    }
}
