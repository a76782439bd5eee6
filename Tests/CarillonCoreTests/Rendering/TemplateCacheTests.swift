import CarillonCore
import CarillonTesting
import Synchronization
import Testing

@Suite struct TemplateCacheTests {
    /// Templates of all networks alike, with a count of how often somebody looked.
    private final class Shelf: TemplateStore {
        struct Closed: Error {}

        private let state = Mutex<(templates: [TemplateOverride], readings: Int, isOpen: Bool)>(([], 0, true))

        var readings: Int { state.withLock(\.readings) }

        func close() { state.withLock { $0.isOpen = false } }

        func templates(in network: NetworkID) async throws -> [TemplateOverride] {
            try state.withLock { state in
                guard state.isOpen else { throw Closed() }
                state.readings += 1
                return state.templates
            }
        }

        func putTemplate(_ template: TemplateOverride, in network: NetworkID) async throws -> Bool {
            state.withLock { $0.templates = [template] }
            return true
        }

        func deleteTemplate(_ type: EventType, locale: String, in network: NetworkID) async throws -> Bool {
            state.withLock { $0.templates = [] }
            return true
        }
    }

    private let shelf = Shelf()
    private let announcements = Announcements()
    private let english = LocaleTag.english

    private func cache() -> TemplateCache { TemplateCache(shelf, announcements: announcements) }

    private func template(_ text: String) -> TemplateOverride {
        TemplateOverride(
            eventType: .messageSent,
            locale: "en",
            source: TemplateSource(title: .one(text), body: .one(text)),
            updatedAt: Timestamp(milliseconds: 1_000)
        )
    }

    @Test func `what is asked for again is not read again`() async throws {
        let cache = cache()
        _ = try await shelf.putTemplate(template("a"), in: "acme")
        for _ in 1...3 {
            #expect(try await cache.overrides(of: "acme")[.messageSent, english]?.source.title == .one("a"))
        }
        #expect(shelf.readings == 1)
        _ = try await cache.overrides(of: "other")
        #expect(shelf.readings == 2)
    }

    @Test func `who writes reads what was written, and the other replicas are told`() async throws {
        let cache = cache()
        #expect(try await cache.overrides(of: "acme")[.messageSent, english] == nil)
        _ = try await cache.putTemplate(template("b"), in: "acme")
        #expect(try await cache.overrides(of: "acme")[.messageSent, english]?.source.body == .one("b"))
        #expect(announcements.take() == .some([Announcement(.templates, in: "acme")]))
        _ = try await cache.deleteTemplate(.messageSent, locale: "en", in: "acme")
        #expect(try await cache.overrides(of: "acme")[.messageSent, english] == nil)
    }

    @Test func `what another replica has changed, or may have, is read anew`() async throws {
        let cache = cache()
        for (batch, text) in [
            (AnnouncementBatch.some([Announcement(.templates, in: "acme")]), "c"), (.everything, "d"),
        ] {
            _ = try await cache.overrides(of: "acme")
            _ = try await shelf.putTemplate(template(text), in: "acme")
            announcements.deliver(batch)
            #expect(try await cache.overrides(of: "acme")[.messageSent, english]?.source.title == .one(text))
        }
    }

    @Test func `what is too old is not used, also when it cannot be read`() async throws {
        let time = ManualTime(.seconds(0))
        let cache = TemplateCache(shelf, now: time.monotonic)
        _ = try await cache.overrides(of: "acme")
        shelf.close()
        _ = try await cache.overrides(of: "acme")
        time.advance(by: TemplateCache.lifetime)
        await #expect(throws: Shelf.Closed.self) { try await cache.overrides(of: "acme") }
    }

    @Test func `a template that no longer compiles is passed over`() async throws {
        var broken = template("%9s")
        broken.source.title = .one("%9s")
        _ = try await shelf.putTemplate(broken, in: "acme")
        #expect(try await cache().overrides(of: "acme")[.messageSent, english] == nil)
    }
}
