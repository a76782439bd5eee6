import CarillonCore
import CarillonTesting
import Testing

/// A second story: what people read of conversations without a name, of pictures with words beside them, and of what is neither text nor
/// a picture, as far as each sender can tell it.
@Suite(.timeLimit(.minutes(1))) struct PeopleStoryTests {
    @Test(arguments: Telling.people)
    func `says what people did, and no id`(_ telling: Telling) async throws {
        try await Stage.run(telling) { stage in
            for (number, (posts, told)) in zip(telling.steps, telling.told).enumerated() {
                let heard = try await stage.tell(posts)
                #expect(heard == told, "step \(number + 1)")
            }
        }
    }
}

extension Telling {
    private static let sea = ["bob: Alice | By the sea"]
    private static let minutes = ["bob: Alice | The minutes 🎉"]

    private static func native(_ type: String, _ id: String, _ data: String) -> Step {
        #"{"type":"\#(type)","id":"\#(id)","data":{"channel":{"id":"6f1a0b2c"},\#(data)}}"#
    }

    private static func nativeMessage(_ id: String, _ message: String) -> Step {
        native("message.sent", id, #""user":{"id":"alice","displayName":"Alice"},"message":{\#(message)}"#)
    }

    private static let nativePeople = Telling(
        nil,
        [
            [
                #"{"type":"channel.created","id":"1","data":{"channel":{"id":"6f1a0b2c","displayName":null},"user":{"id":"alice"},"members":["alice","bob"]}}"#,
                native("member.joined", "2", #""members":["carol"]"#),
                native("member.left", "3", #""members":["carol"]"#),
            ],
            nativeMessage("4", #""type":"image","text":"https://x/sea.jpg","caption":"By the sea""#),
            Step(Message.Special.allCases.map { nativeMessage($0.rawValue, #""type":"x","kind":"\#($0.rawValue)""#) }),
            [nativeMessage("5", #""text":" ""#), nativeMessage("6", #""type":"image""#)],
            native("channel.invited", "7", #""user":{"id":"alice"},"invited":["dave"]"#),
            #"{"type":"channel.invited","id":"8","data":{"channel":{"id":"6f1a0b2c","displayName":"Lobby"},"user":{"id":"alice"},"invited":["dave"]}}"#,
        ],
        told: [
            [], sea,
            ["Poll", "Location", "File", "Encrypted message", "Sticker", "Call"].map { "bob: Alice | \($0)" }.sorted(),
            ["bob: Alice | Image Message", "bob: Alice | Special message"], ["dave: Alice | Alice invited you"],
            ["dave: Alice | Alice invited you to Lobby"],
        ],
        name: "people"
    )

    private static let amityPeople = Telling(
        .amity,
        [
            #"{"event":"channel.didCreate","data":{"channel":[{"channelId":"6f1a0b2c","type":"conversation"}],"users":[{"userId":"alice","displayName":"Alice"},{"userId":"bob"}],"userIds":["alice","bob"]}}"#,
            #"{"event":"message.didCreate","data":{"messages":[{"messageId":"1","channelId":"6f1a0b2c","userId":"alice","type":"image","data":{"caption":"By the sea"}}]}}"#,
            #"{"event":"message.didCreate","data":{"messages":[{"messageId":"2","channelId":"6f1a0b2c","userId":"alice","type":"text","data":{"text":"a\u0000b"}},{"messageId":"3","channelId":"6f1a0b2c","userId":"alice","type":"text","data":{"text":"Hello"}},{"channelId":"6f1a0b2c"}]}}"#,
        ],
        told: [[], sea, ["bob: Alice | Hello", "bob: Alice | Special message"]],
        name: "people"
    )

    private static func streamed(_ id: String, _ message: String) -> Step {
        #"{"type":"message.new","cid":"messaging:!members-AAAA","message":{"id":"\#(id)","user":{"id":"alice","name":"Alice"},\#(message)},"members":[{"user_id":"alice"},{"user_id":"bob"},{"user_id":"carol","notifications_muted":true}]}"#
    }

    private static let streamPeople = Telling(
        .stream,
        [
            #"{"type":"channel.created","cid":"messaging:!members-AAAA","channel":{"id":"!members-AAAA","members":[{"user_id":"alice"},{"user_id":"bob"},{"user_id":"dave","invited":true}]},"user":{"id":"alice","name":"Alice"}}"#,
            streamed("1", #""text":"By the sea","attachments":[{"type":"image"}]"#),
            [
                streamed("2", #""text":"","poll_id":"p""#),
                streamed("3", #""text":"","shared_location":{"latitude":1}"#),
            ],
            streamed("4", #""text":"See https://x","attachments":[{"type":"image","og_scrape_url":"https://x"}]"#),
            [
                #"{"type":"member.updated","cid":"messaging:!members-AAAA","member":{"user_id":"dave","invited":true,"invite_accepted_at":"2026-11-20T10:00:00Z"},"user":{"id":"dave"}}"#,
                streamed("5", #""text":"Hi""#),
            ],
        ],
        told: [
            [], sea, ["bob: Alice | Location", "bob: Alice | Poll"], ["bob: Alice | See https://x"],
            ["bob: Alice | Hi", "dave: Alice | Hi"],
        ],
        name: "people"
    )

    private static let sendbirdPeople = Telling(
        .sendbird,
        [
            #"{"category":"group_channel:message_send","type":"MESG","sender":{"user_id":"alice","nickname":"Alice"},"payload":{"message_id":1,"message":"Hello"},"members":[{"user_id":"alice"},{"user_id":"bob"},{"user_id":"carol","is_blocking_sender":true}],"channel":{"name":"Group Channel","channel_url":"sendbird_group_channel_1"}}"#,
            #"{"category":"group_channel:invite","invited_at":1763632790000,"inviter":{"user_id":"alice"},"invitees":[{"user_id":"dave"}],"channel":{"name":"","channel_url":"sendbird_group_channel_1"}}"#,
        ],
        told: [["bob: Alice | Hello"], ["dave: Alice | Alice invited you"]],
        name: "people"
    )

    private static func comet(_ id: String, _ message: String) -> Step {
        #"{"trigger":"message_sent","appId":"A1","data":{"message":{"id":"\#(id)","sender":"alice","receiver":"bob","receiverType":"user",\#(message),"entities":{"sender":{"entity":{"uid":"alice","name":"Alice"}},"receiver":{"entity":{"uid":"bob"}}}}}}}"#
    }

    private static let cometPeople = Telling(
        .cometchat,
        [
            comet("1", #""type":"image","data":{"text":"By the sea""#),
            comet("2", #""category":"call","type":"audio","data":{"action":"initiated""#),
            comet("3", #""type":"text","data":{"text":"Hi <@all:everyone>""#),
        ],
        told: [sea, ["bob: Alice | Call"], ["bob: Alice | Hi @everyone"]],
        name: "people"
    )

    private static func twilio(_ type: String, _ id: String, _ data: String) -> String {
        #"{"specversion":"1.0","type":"com.twilio.conversations.\#(type)","source":"AB1","id":"\#(id)","data":{"ConversationSid":"CH1",\#(data)}}"#
    }

    private static let twilioPeople = Telling(
        .cloudevents,
        [
            #"[\#(twilio("conversation.added", "1", #""FriendlyName":null"#)),\#(twilio("participant.added", "2", #""Identity":"alice""#)),\#(twilio("participant.added", "3", #""Identity":"bob""#))]"#,
            #"[\#(twilio("message.added", "4", #""MessageSid":"IM1","Author":"alice","MessageBody":"By the sea","Media":[{"ContentType":"image/png"}]"#)),{"type":"com.twilio.conversations.message.added","id":7},\#(twilio("message.added", "5", #""MessageSid":"IM2","Author":"alice","MessageBody":"a\u0000""#))]"#,
        ],
        told: [[], ["bob: alice | By the sea", "bob: alice | Special message"]],
        name: "Twilio, people"
    )

    private static let talkPeople = Telling(
        .talkjs,
        [
            #"{"id":"1","type":"message.sent","data":{"sender":{"id":"alice","name":"Alice"},"conversation":{"id":"6f1a","subject":null,"participants":{"alice":{},"bob":{},"carol":{"notify":false}}},"message":{"id":"m","text":"By the sea","attachment":{"url":"https://x/sea.jpg"}}}}"#
        ],
        told: [sea],
        name: "people"
    )

    private static func inRoom(_ id: String, _ rest: String) -> String {
        #"{"event_id":"$\#(id)","room_id":"!r:x","sender":"alice",\#(rest)}"#
    }

    private static let matrixPeople = Telling(
        .matrix,
        [
            transaction(
                inRoom("1", #""type":"m.room.create","state_key":"","content":{}"#),
                inRoom(
                    "2",
                    #""type":"m.room.member","state_key":"alice","content":{"membership":"join","displayname":"Al\u0000ice"}"#
                )
            ),
            transaction(
                inRoom(
                    "3",
                    #""type":"m.room.member","state_key":"bob","content":{"membership":"invite","is_direct":true}"#
                )
            ),
            transaction(
                #"{"event_id":"$4","room_id":"!r:x","sender":"bob","type":"m.room.member","state_key":"bob","content":{"membership":"join"}}"#
            ),
            transaction(
                inRoom("5", #""type":"m.room.encrypted","content":{"ciphertext":"x"}"#),
                inRoom("6", #""type":"m.sticker","content":{"body":"Cat"}"#),
                inRoom(
                    "7",
                    #""type":"m.room.message","content":{"msgtype":"m.image","body":"By the sea","filename":"sea.jpg"}"#
                ),
                inRoom("8", #""type":"m.room.message","content":{"msgtype":"m.text","body":"\ud83d"}"#)
            ),
        ],
        told: [
            [], ["bob: Alice | Alice invited you"], [],
            [
                "bob: Alice | By the sea", "bob: Alice | Encrypted message", "bob: Alice | Special message",
                "bob: Alice | Sticker",
            ],
        ],
        name: "people"
    )

    private static func rocket(_ id: String, _ rest: String, kind: String? = nil) -> Step {
        let body =
            #"{"token":"t","channel_id":"general","channel_name":null,"message_id":"\#(id)","user_id":"alice","user_name":"Alice",\#(rest)}"#
        return Step([body], kind: kind)
    }

    private static let rocketPeople = Telling(
        .rocketchat,
        [
            [
                rocket("1", #""text":"""#),
                rocket(
                    "1",
                    #""text":"","message":{"file":{"type":"application/pdf"},"attachments":[{"description":"The minutes :tada:"}]}"#,
                    kind: "fileUploaded"
                ),
            ],
            rocket("2", #""text":"The minutes :tada:""#),
        ],
        told: [minutes, minutes],
        imported: ["alice", "bob"],
        name: "people"
    )

    private static let mattermostPeople = Telling(
        .mattermost,
        [
            "token=t&channel_id=general&channel_name=general&user_id=alice&user_name=Alice&post_id=p&text=The+minutes+:tada:&file_ids=f1"
        ],
        told: [minutes],
        imported: ["alice", "bob"],
        name: "people"
    )

    static let people = [
        nativePeople, amityPeople, streamPeople, sendbirdPeople, cometPeople, twilioPeople, talkPeople, matrixPeople,
        rocketPeople, mattermostPeople,
    ]
}
