import CarillonCore
import CarillonDialects
import CarillonTesting
import Testing

/// The story of DIALECTS section 2, told by each dialect as far as its sender can tell it: alice creates General with bob and carol,
/// dave joins, bob says Hello, dave leaves, the channel is renamed Lobby, carol says Bye.
@Suite struct StoryTests {
    struct Telling: Sendable, CustomTestStringConvertible {
        var dialect: DialectName
        /// What is posted in each of the six steps, with what its URL or headers add.
        var steps: [[String]]
        /// Who is told what in each step.
        var told: [[String]]
        /// Who was imported beforehand, where the sender never says who is a member.
        var imported: [UserID] = []

        var testDescription: String { dialect.rawValue }
    }

    private static let hello = "Bob in General: Hello"
    private static let bye = "Carol in Lobby: Bye"

    /// What the native format yields.
    private static let usual: [[String]] = [
        ["bob: new General", "carol: new General"],
        ["alice: Dave joined General", "bob: Dave joined General", "carol: Dave joined General"],
        ["alice: \(hello)", "carol: \(hello)", "dave: \(hello)"], [], [], ["alice: \(bye)", "bob: \(bye)"],
    ]

    @Test(arguments: tellings)
    func `tells everybody what the native format tells them`(_ telling: Telling) async throws {
        let stage = try await Stage(telling.dialect, imported: telling.imported)
        for (number, (bodies, told)) in zip(telling.steps, telling.told).enumerated() {
            #expect(try await stage.tell(bodies) == told, "step \(number + 1)")
            // Senders try again.
            #expect(try await stage.tell(bodies) == [], "step \(number + 1) again")
        }
    }

    static let tellings: [Telling] = [amity, stream, sendbird, comet, cloud, twilio, talk, matrix, rocket]

    private static func amityBody(_ event: String, _ rest: String) -> String {
        #"{"event":"\#(event)","data":{\#(rest)}}"#
    }

    private static let amityChannel = #""channel":[{"channelId":"general","displayName":"General","type":"community"}]"#

    private static let amity = Telling(
        dialect: .amity,
        steps: [
            [
                amityBody(
                    "channel.didCreate",
                    #"\#(amityChannel),"users":[{"userId":"alice","displayName":"Alice"},{"userId":"bob","displayName":"Bob"},{"userId":"carol","displayName":"Carol"}],"userIds":["alice","bob","carol"]"#
                )
            ],
            [
                amityBody(
                    "channel.didAddUsers",
                    #"\#(amityChannel),"users":[{"userId":"dave","displayName":"Dave"}],"userIds":["dave"],"adderId":"bob""#
                ),
                amityBody(
                    "channel.didJoin",
                    #"\#(amityChannel),"users":[{"userId":"dave","displayName":"Dave"}],"userIds":["dave"]"#
                ),
            ],
            [
                amityBody(
                    "message.didCreate",
                    #""messages":[{"messageId":"1","channelId":"general","userId":"bob","type":"text","data":{"text":"Hello"}}],"users":[{"userId":"bob","displayName":"Bob"}]"#
                )
            ],
            [amityBody("channel.didLeave", #"\#(amityChannel),"userIds":["dave"]"#)],
            [
                amityBody(
                    "channel.didUpdate",
                    #""channel":[{"channelId":"general","displayName":"Lobby"}],"userId":"alice""#
                )
            ],
            [
                amityBody(
                    "message.didCreate",
                    #""messages":[{"messageId":"2","channelId":"general","userId":"carol","type":"text","data":{"text":"Bye"}}],"users":[{"userId":"carol","displayName":"Carol"}]"#
                )
            ],
        ],
        told: [
            // Nothing says who created it, and bob is told to have added dave.
            ["alice: new General", "bob: new General", "carol: new General"],
            ["alice: Dave joined General", "carol: Dave joined General"], usual[2], [], [], usual[5],
        ]
    )

    private static func streamBody(_ type: String, _ rest: String) -> String {
        #"{"type":"\#(type)","cid":"m:general",\#(rest)}"#
    }

    private static let stream = Telling(
        dialect: .stream,
        steps: [
            [
                streamBody(
                    "channel.created",
                    #""channel":{"name":"General","created_by":{"id":"alice","name":"Alice"},"members":[{"user_id":"alice"},{"user_id":"bob","user":{"id":"bob","name":"Bob"}},{"user_id":"carol"}]}"#
                ), streamBody("member.added", #""member":{"user_id":"bob"}"#),
            ],
            [
                streamBody(
                    "member.added",
                    #""member":{"user_id":"dave","user":{"id":"dave","name":"Dave"}},"members":[{"user_id":"alice"}]"#
                )
            ],
            [
                streamBody(
                    "message.new",
                    #""message":{"id":"1","text":"Hello","user":{"id":"bob","name":"Bob"}},"members":[{"user_id":"bob"}]"#
                )
            ],
            [streamBody("member.removed", #""member":{"user_id":"dave"}"#)],
            [streamBody("channel.updated", #""channel":{"name":"Lobby"}"#)],
            [streamBody("message.new", #""message":{"id":"2","text":"Bye","user":{"id":"carol","name":"Carol"}}"#)],
        ],
        told: usual
    )

    private static func sendbirdBody(_ category: String, _ rest: String, name: String = "General") -> String {
        #"{"category":"group_channel:\#(category)","channel":{"channel_url":"general","name":"\#(name)"},\#(rest)}"#
    }

    private static let sendbird = Telling(
        dialect: .sendbird,
        steps: [
            [
                sendbirdBody(
                    "create",
                    #""created_at":1763632790000,"inviter":{"user_id":"alice","nickname":"Alice"},"members":[{"user_id":"alice"},{"user_id":"bob","state":"joined"},{"user_id":"carol","state":"joined"}]"#
                ),
                sendbirdBody("join", #""joined_at":1763632790001,"users":[{"user_id":"bob","nickname":"Bob"}]"#),
                sendbirdBody("join", #""joined_at":1763632790001,"users":[{"user_id":"carol","nickname":"Carol"}]"#),
            ],
            [sendbirdBody("join", #""joined_at":1763632790100,"users":[{"user_id":"dave","nickname":"Dave"}]"#)],
            [
                sendbirdBody(
                    "message_send",
                    #""sender":{"user_id":"bob","nickname":"Bob"},"type":"MESG","payload":{"message_id":1,"message":"Hello","created_at":1763632790200}"#
                )
            ],
            [sendbirdBody("leave", #""left_at":1763632790300,"users":[{"user_id":"dave"}]"#)],
            [
                sendbirdBody(
                    "changed",
                    #""changed_at":1763632790400,"changes":[{"key":"name","new":"Lobby"}]"#,
                    name: "Lobby"
                )
            ],
            [
                sendbirdBody(
                    "message_send",
                    #""sender":{"user_id":"carol","nickname":"Carol"},"type":"MESG","payload":{"message_id":2,"message":"Bye","created_at":1763632790500}"#,
                    name: "Lobby"
                )
            ],
        ],
        told: usual
    )

    private static func cometBody(_ trigger: String, _ rest: String, name: String = "General") -> String {
        #"{"trigger":"\#(trigger)","appId":"A","data":{"group":{"guid":"general","name":"\#(name)","owner":"alice"},\#(rest)}}"#
    }

    private static func cometMessage(_ id: String, _ user: String, _ name: String, _ text: String, in group: String)
        -> String
    {
        #"{"trigger":"message_sent","appId":"A","data":{"message":{"id":"\#(id)","sender":"\#(user)","receiverType":"group","receiver":"general","category":"message","type":"text","data":{"text":"\#(text)","entities":{"sender":{"entity":{"uid":"\#(user)","name":"\#(name)"}},"receiver":{"entity":{"guid":"general","name":"\#(group)"}}}}}}}"#
    }

    private static let comet = Telling(
        dialect: .cometchat,
        steps: [
            [
                cometBody(
                    "group_created",
                    #""members":{"alice":{"uid":"alice"},"bob":{"uid":"bob"},"carol":{"uid":"carol"}}"#
                )
            ],
            [cometBody("group_member_joined", #""members":{"dave":{"uid":"dave","name":"Dave"}}"#)],
            [cometMessage("1", "bob", "Bob", "Hello", in: "General")],
            [cometBody("group_member_left", #""members":{"dave":{"uid":"dave"}}"#)],
            [cometBody("group_updated", #""x":1"#, name: "Lobby")],
            [cometMessage("2", "carol", "Carol", "Bye", in: "Lobby")],
        ],
        told: usual
    )

    private static func cloudBody(_ id: Int, _ type: String, _ data: String) -> String {
        #"{"specversion":"1.0","id":"\#(id)","source":"/s","type":"\#(type)","data":{\#(data)}}"#
    }

    private static let cloud = Telling(
        dialect: .cloudevents,
        steps: [
            [
                cloudBody(
                    1,
                    "chat.channel.created",
                    #""channel":{"id":"general","displayName":"General"},"user":{"id":"alice"},"members":["bob","carol"]"#
                )
            ],
            [
                cloudBody(
                    2,
                    "chat.member.joined",
                    #""channel":{"id":"general"},"members":[{"id":"dave","displayName":"Dave"}]"#
                )
            ],
            [
                cloudBody(
                    3,
                    "chat.message.sent",
                    #""channel":{"id":"general"},"user":{"id":"bob","displayName":"Bob"},"message":{"text":"Hello"}"#
                )
            ],
            [cloudBody(4, "chat.member.left", #""channel":{"id":"general"},"members":["dave"]"#)],
            [cloudBody(5, "chat.channel.updated", #""channel":{"id":"general","displayName":"Lobby"}"#)],
            [
                cloudBody(
                    6,
                    "chat.message.sent",
                    #""channel":{"id":"general"},"user":{"id":"carol","displayName":"Carol"},"message":{"text":"Bye"}"#
                )
            ],
        ],
        told: usual
    )

    private static func twilioBody(_ id: Int, _ type: String, _ data: String) -> String {
        cloudBody(id, "com.twilio.conversations.\(type)", #""ConversationSid":"CH1",\#(data)"#)
    }

    /// Creation names nobody, and names are never told.
    private static let twilio = Telling(
        dialect: .cloudevents,
        steps: [
            [
                twilioBody(1, "conversation.added", #""FriendlyName":"General""#),
                twilioBody(2, "participant.added", #""Identity":"bob""#),
                twilioBody(3, "participant.added", #""Identity":"carol""#),
            ],
            [twilioBody(4, "participant.added", #""Identity":"dave""#)],
            [twilioBody(5, "message.added", #""MessageSid":"1","Author":"bob","MessageBody":"Hello""#)],
            [twilioBody(6, "participant.removed", #""Identity":"dave""#)],
            [twilioBody(7, "conversation.updated", #""FriendlyName":"Lobby""#)],
            [twilioBody(8, "message.added", #""MessageSid":"2","Author":"carol","MessageBody":"Bye""#)],
        ],
        told: [
            ["bob: carol joined General"], ["bob: dave joined General", "carol: dave joined General"],
            ["carol: bob in General: Hello", "dave: bob in General: Hello"], [], [], ["bob: carol in Lobby: Bye"],
        ]
    )

    private static func talkBody(
        _ id: Int,
        _ user: String,
        _ name: String,
        _ text: String,
        _ subject: String,
        _ people: [String]
    ) -> String {
        let participants = people.map { #""\#($0)":{"access":"ReadWrite"}"# }.joined(separator: ",")
        return
            #"{"id":"\#(id)","type":"message.sent","data":{"sender":{"id":"\#(user)","name":"\#(name)"},"conversation":{"id":"general","subject":"\#(subject)","participants":{\#(participants)}},"message":{"id":"m\#(id)","text":"\#(text)"}}}"#
    }

    /// Only messages are told; each lists all who take part.
    private static let talk = Telling(
        dialect: .talkjs,
        steps: [
            [], [], [talkBody(1, "bob", "Bob", "Hello", "General", ["alice", "bob", "carol", "dave"])], [], [],
            [talkBody(2, "carol", "Carol", "Bye", "Lobby", ["alice", "bob", "carol"])],
        ],
        told: [[], [], usual[2], [], [], usual[5]]
    )

    private static func matrixBody(
        _ id: Int,
        _ sender: String,
        _ type: String,
        _ content: String,
        key: String? = nil,
        was: String = "leave"
    ) -> String {
        let state = key.map { #""state_key":"\#($0)","unsigned":{"prev_content":{"membership":"\#(was)"}},"# } ?? ""
        return
            #"{"event_id":"$\#(id)","room_id":"general","sender":"\#(sender)","type":"\#(type)",\#(state)"content":{\#(content)}}"#
    }

    private static func transaction(_ events: String...) -> String {
        #"{"events":[\#(events.joined(separator: ","))]}"#
    }

    /// Creation and joins are events of their own.
    private static let matrix = Telling(
        dialect: .matrix,
        steps: [
            [
                transaction(
                    matrixBody(1, "alice", "m.room.create", "", key: ""),
                    matrixBody(
                        2,
                        "alice",
                        "m.room.member",
                        #""membership":"join","displayname":"Alice""#,
                        key: "alice"
                    ),
                    matrixBody(3, "alice", "m.room.name", #""name":"General""#, key: ""),
                    matrixBody(4, "bob", "m.room.member", #""membership":"join","displayname":"Bob""#, key: "bob"),
                    matrixBody(5, "carol", "m.room.member", #""membership":"join","displayname":"Carol""#, key: "carol")
                )
            ],
            [
                transaction(
                    matrixBody(6, "dave", "m.room.member", #""membership":"join","displayname":"Dave""#, key: "dave")
                )
            ],
            [transaction(matrixBody(7, "bob", "m.room.message", #""msgtype":"m.text","body":"Hello""#))],
            [transaction(matrixBody(8, "dave", "m.room.member", #""membership":"leave""#, key: "dave", was: "join"))],
            [transaction(matrixBody(9, "alice", "m.room.name", #""name":"Lobby""#, key: ""))],
            [transaction(matrixBody(10, "carol", "m.room.message", #""msgtype":"m.text","body":"Bye""#))],
        ],
        told: [
            ["alice: Bob joined General", "alice: Carol joined General", "bob: Carol joined General"],
            usual[1], usual[2], [], [], usual[5],
        ]
    )

    private static func rocketBody(_ id: Int, _ user: String, _ name: String, _ text: String, _ channel: String)
        -> String
    {
        #"{"token":"t","channel_id":"general","channel_name":"\#(channel)","message_id":"\#(id)","user_id":"\#(user)","user_name":"\#(name)","text":"\#(text)"}"#
    }

    /// Messages only; who is a member is imported.
    private static let rocket = Telling(
        dialect: .rocketchat,
        steps: [
            [], [], [rocketBody(1, "bob", "Bob", "Hello", "General")], [], [],
            [rocketBody(2, "carol", "Carol", "Bye", "Lobby")],
        ],
        told: [[], [], ["alice: \(hello)", "carol: \(hello)"], [], [], usual[5]],
        imported: ["alice", "bob", "carol"]
    )
}
