import CarillonCore

@testable import CarillonDialects

/// A dialect that nobody sends, as a newcomer would write it. In `Sources` it would be a folder of `CarillonDialects`, with a row in
/// `Dialects`.
struct ChirpDialect: EventDialect {
    /// In `Sources` a case of its own; nothing but a test can borrow another's.
    let name = DialectName.talkjs
    let answer = DialectAnswer.nothing

    func verify(_ request: DialectRequest, _ document: DialectDocument, now: Timestamp) throws(DialectRefusal) {
        guard let token = try request.proof("x-chirp-token") else { throw .unproven("x-chirp-token is missing") }
        guard Proof.isOne(of: document.secrets, token) else { throw .unproven("x-chirp-token does not match") }
    }

    func read(_ post: DialectPost) throws(DialectRefusal) -> DialectReading {
        let body = try post.object()
        guard try body.discriminator("kind") == "chirp" else { return .ignored("nobody is notified of its kind") }
        guard let id = body["id"]?.messageID, let room = Channel(body["room"]), let sender = Person(body["by"]) else {
            return .ignored("it has no usable id, room or sender")
        }
        var event = Event(
            sourceID: SourceID.of(name, id),
            type: .messageSent,
            timestamp: post.clock.seconds(body["at"]),
            channel: room,
            actor: sender
        )
        event.message = Message(.string(id), content: nil, text: body["words"]?.text)
        return DialectReading([.known(event)])
    }
}
