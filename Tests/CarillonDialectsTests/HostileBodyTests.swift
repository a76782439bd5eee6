import CarillonCore
import CarillonDialects
import CarillonTesting
import Testing

/// Whatever is posted, each dialect answers with events, with a reason to ignore it, or with a refusal.
@Suite struct HostileBodyTests {
    @Test(arguments: DialectName.allCases)
    func `what is no body of the dialect is refused`(_ name: DialectName) throws {
        let json = [(name: "content-type", value: "application/json")]
        for body in ["", "{", "\u{FEFF}{}", #"{"a":1,"a":2}"#, #""x""#, "7"] {
            #expect(throws: DialectRefusal.self, "\(body)") { try Scene(name).read(body, headers: json) }
        }
    }

    @Test(arguments: DialectName.allCases)
    func `another dialect's body is refused or ignored`(_ name: DialectName) throws {
        for row in MappingTests.all where row.dialect != name {
            guard let reading = try? Scene(name).read(row.body, headers: row.headers) else { continue }
            // Their push notifications are told by a member that others do not have; the rest shares no discriminator.
            #expect(reading.known.isEmpty, "\(row.body)")
        }
    }

    @Test func `ids that are too long, reserved or missing are ignored`() throws {
        let long = String(repeating: "x", count: 300)
        for row in MappingTests.all where row.dialect != .cloudevents {
            for (find, replace) in [
                ("bob", long), ("bob", "me"), ("general", long), (#""id":"c""#, #""id":"\#(long)""#),
            ] {
                let body = row.body.replacing(find, with: replace)
                let reading = try Scene(row.dialect, settings: row.settings).read(
                    body,
                    headers: row.headers,
                    query: row.query
                )
                reading.expectKept(receivedAt: Scene.now)
            }
        }
    }

    @Test func `three hundred members, and as many as fit into a body, are members`() throws {
        let ids = (0..<300).map { #""user\#($0)""# }.joined(separator: ",")
        let body =
            #"{"event":"channel.didCreate","data":{"channel":[{"channelId":"c"}],"userIds":[\#(ids)]}}"#
        #expect(try Scene(.amity).read(body).known.first?.members.count == 300)
        let many = (0..<30_000).map { #""\#($0)""# }.joined(separator: ",")
        let reading = try Scene(.amity).read(body.replacing(ids, with: many))
        #expect(reading.known.first?.members.count == 10_000)
        reading.expectKept(receivedAt: Scene.now)
    }

    @Test func `names that are written like tokens are not read again`() throws {
        let mentions = (0..<8).map { number in
            let name = String(repeating: "<@uid:b\(number + 1)>", count: 11)
            return #""b\#(number)":{"uid":"b\#(number)","name":"\#(name)"}"#
        }
        let body = #"""
            {"trigger":"message_sent","appId":"A","data":{"message":{"id":"1","sender":"alice","receiverType":"group",
            "receiver":"g","category":"message","type":"text","data":{"text":"<@uid:b0>","mentions":{\#(
                mentions.joined(separator: ","))}}}}}
            """#
        let text = try Scene(.cometchat).read(body).known.first?.message?.text ?? ""
        #expect(text.utf8.count < 1_000)
    }

    @Test func `what would be said again in each event is not said thousands of times`() throws {
        let channels = Array(repeating: #"{"channelId":"c"}"#, count: 1_000).joined(separator: ",")
        let ids = (0..<1_000).map { #""u\#($0)""# }.joined(separator: ",")
        let body = #"{"event":"channel.didJoin","data":{"channel":[\#(channels)],"userIds":[\#(ids)]}}"#
        #expect(try Scene(.amity).read(body).known.isEmpty)
    }

    @Test func `many messages that come with many people are all told, and the people once`() throws {
        let messages = (0..<100).map { #"{"messageId":"\#($0)","channelId":"c","userId":"user1"}"# }
        let users = (0..<201).map { #"{"userId":"user\#($0)","displayName":"\#($0)"}"# }
        let body =
            #"{"event":"message.didCreate","data":{"messages":[\#(messages.joined(separator: ","))],"users":[\#(users.joined(separator: ","))]}}"#
        let known = try Scene(.amity).read(body).known
        #expect(known.map(\.people.count) == [200] + Array(repeating: 0, count: 99))
        #expect(known.allSatisfy { $0.actor?.displayName == "1" })
    }

    @Test func `a message for more people than an event can name reaches no others`() throws {
        let people = (0..<10_001).map { #""u\#($0)":{}"# }.joined(separator: ",")
        let body = #"""
            {"id":"e","type":"message.sent","createdAt":1,"data":{"sender":{"id":"u1"},"conversation":{"id":"c",
            "participants":{\#(people)}},"message":{"id":"m","type":"UserMessage","senderId":"u1","text":"x"}}}
            """#
        #expect(try Scene(.talkjs).read(body).known.first?.visibleTo?.count == 10_000)
    }

    @Test func `times that cannot be are now`() throws {
        let scene = Scene(.stream)
        for time in [
            "0", "-1", "99999999999999999999", "9223372036854775807", #""x""#, "null", "{}", "1e300", "1763632800",
        ] {
            let body = #"{"type":"channel.deleted","cid":"a:b","created_at":\#(time)}"#
            #expect(try scene.read(body).known.first?.timestamp == scene.now, "\(time)")
        }
        let exact = try scene.read(#"{"type":"channel.deleted","cid":"a:b","created_at":1763632700000000001}"#)
        #expect(exact.known.first?.timestamp == Timestamp(milliseconds: 1_763_632_700_000))
        let offset = try scene.read(
            #"{"type":"channel.deleted","cid":"a:b","created_at":"2025-11-20T11:59:00.123456789+02:00"}"#
        )
        #expect(offset.known.first?.timestamp == Timestamp(rfc3339: "2025-11-20T09:59:00.123Z"))
    }

    /// A few hundred bodies that begin as real ones, the same ones each time; or others for a while.
    @Test(arguments: DialectName.allCases)
    func `mutated bodies never come to anything but a verdict`(_ name: DialectName) {
        let rows = MappingTests.all.filter { $0.dialect == name }
        let others = MappingTests.all.map { Array($0.body.utf8) }
        Fuzzing.run(400, seed: name.rawValue) { random in
            guard let row = rows.randomElement(using: &random) else { return }
            let body = Mutator.mutated(Array(row.body.utf8), with: others, &random)
            let request = DialectRequest(query: row.query, headers: row.headers, body: body)
            let scene = Scene(name, settings: row.settings)
            guard
                let reading = try? scene.dialect.events(of: request, DialectSettings(row.settings), now: scene.now)
            else { return }
            reading.expectKept(receivedAt: scene.now)
            let document = DialectDocument(name, secrets: "x", basic: ("a", "b"))
            #expect(throws: DialectRefusal.self) { try scene.dialect.verify(request, document, now: scene.now) }
        }
    }

    @Test func `mutated events of our own are read or refused, and unpacking ends`() {
        let events = Telling.native.steps.flatMap(\.posts).map { Array($0.body.utf8) }
        let parser = EventParser(clock: WallClock { Scene.now })
        Fuzzing.run(400, seed: "native") { random in
            guard let event = events.randomElement(using: &random) else { return }
            let body = Mutator.mutated(event, with: events, &random)
            let parsed = try? parser.parse(body: body, fallbackSourceID: "e")
            if case .single(let event)? = parsed, case .known(let known) = event.content {
                let stored = StoredEvent(
                    body: event.body,
                    sourceID: event.sourceID,
                    receivedAt: Scene.now,
                    occurredAt: known.timestamp
                )
                #expect(stored == .event(known.asStored))
            }
            let packed = Mutator.mutated(KnownAnswerTests.packed, with: [body], &random)
            if let plain = try? Gunzip.unpack(packed, upTo: 1_000) { #expect(plain.count <= 1_000) }
        }
    }
}

extension DialectReading {
    /// What is read can be stored, and is read again as the same.
    func expectKept(receivedAt now: Timestamp) {
        for (event, canonical) in zip(known, canonical) {
            #expect(Identifier<Event>(event.sourceID) != nil)
            let stored = StoredEvent(
                body: canonical.serialized,
                sourceID: event.sourceID,
                receivedAt: now,
                occurredAt: event.timestamp
            )
            var expected = event
            expected.message?.typeName = nil
            #expect(stored == .event(expected.asStored))
        }
    }
}

extension Event {
    /// Without what the directory alone is told.
    var asStored: Event {
        var event = self
        event.channel?.describedAt = nil
        event.actor?.describedAt = nil
        for people in [\Event.members, \.existingMembers, \.people] {
            for index in event[keyPath: people].indices { event[keyPath: people][index].describedAt = nil }
        }
        return event
    }
}
