import CarillonCore
import CarillonDialects
import CarillonTesting
import Testing

/// What a new dialect costs: what ``ChirpDialect`` says is all that is needed to take what its sender posts.
@Suite struct DialectExampleTests {
    private let dialect = ChirpDialect()
    private let body = #"{"kind":"chirp","id":7,"room":"lobby","by":"alice","at":1763632800,"words":"Hi :wave:"}"#

    @Test func `it is read as an event that is stored like any other`() throws {
        let request = DialectRequest(headers: [], body: Array(body.utf8))
        let reading = try dialect.events(of: request, DialectSettings(), now: Scene.now)
        let event = try #require(reading.known.first)
        #expect(
            event.type == .messageSent && event.channel == Channel(id: "lobby") && event.actor == Person(id: "alice")
        )
        #expect(event.message?.text == "Hi \u{1F44B}", "emoji are shown without a word of its own")
        let stored = try EventParser(clock: WallClock { Scene.now })
            .parse(body: try #require(reading.canonical.first).serialized, fallbackSourceID: nil)
        #expect(stored == .single(try #require(reading.events.first).parsed))
        let ignored = DialectSettings(["ignoreSenders": ["alice"]])
        #expect(try dialect.events(of: request, ignored, now: Scene.now).known.isEmpty)
    }

    @Test(arguments: [("t", true), ("x", false), (nil, false)])
    func `only who shows the secret is believed`(token: String?, isBelieved: Bool) {
        let request = DialectRequest(headers: token.map { [("x-chirp-token", $0)] } ?? [], body: [])
        let verdict = Result { try dialect.verify(request, Prover.document(.talkjs), now: Scene.now) }
        #expect(((try? verdict.get()) != nil) == isBelieved)
    }

    @Test func `what cannot be read is refused, and what means nothing is ignored with a reason`() throws {
        let read = { (body: String) in
            try dialect.events(
                of: DialectRequest(headers: [], body: Array(body.utf8)),
                DialectSettings(),
                now: Scene.now
            )
        }
        #expect(throws: DialectRefusal.self) { try read("[]") }
        #expect(try read(#"{"kind":"nap"}"#).reasons == ["nobody is notified of its kind"])
        #expect(try read(#"{"kind":"chirp"}"#).reasons == ["it has no usable id, room or sender"])
    }

    @Test func `what it leaves out is as for most`() {
        #expect(dialect.mediaTypes == ["application/json"])
        #expect(dialect.missing(in: DialectDocument(.talkjs)) == "secret")
        #expect(dialect.missing(in: DialectDocument(.talkjs, secrets: "t")) == nil)
        #expect(dialect.answer == .nothing && Dialects.named(.talkjs).answer == .receipts)
    }
}
