import CarillonCore
import CarillonTesting

/// Those who tell a part of it, or all of it in our own words.
extension Telling {
    /// The story in our own words: the types and data of its steps.
    private static let words: [[(type: String, data: String)]] = [
        [
            (
                "channel.created",
                #""channel":{"id":"general","displayName":"General"},"user":{"id":"alice"},"members":["bob","carol"]"#
            )
        ],
        [("member.joined", #""channel":{"id":"general"},"members":[{"id":"dave","displayName":"Dave"}]"#)],
        [
            (
                "message.sent",
                #""channel":{"id":"general"},"user":{"id":"bob","displayName":"Bob"},"message":{"text":"Hello"}"#
            )
        ],
        [("member.left", #""channel":{"id":"general"},"members":["dave"]"#)],
        [("channel.updated", #""channel":{"id":"general","displayName":"Lobby"}"#)],
        [
            (
                "message.sent",
                #""channel":{"id":"general"},"user":{"id":"carol","displayName":"Carol"},"message":{"text":"Bye"}"#
            )
        ],
        [
            ("user.updated", #""user":{"id":"carol","displayName":"Caroline"}"#),
            ("message.sent", #""channel":{"id":"general"},"user":{"id":"carol"},"message":{"text":"Again"}"#),
        ],
    ]

    private static func told(_ body: (_ id: String, _ type: String, _ data: String) -> String) -> [Step] {
        words.enumerated().map { step, words in
            Step(words.enumerated().map { body("\(step)-\($0)", $1.type, $1.data) })
        }
    }

    static let native = Telling(nil, told { #"{"id":"\#($0)","type":"\#($1)","data":{\#($2)}}"# }, told: usual)

    static let cloud = Telling(.cloudevents, told { cloudBody($0, "chat.\($1)", $2) }, told: usual)

    private static func cloudBody(_ id: String, _ type: String, _ data: String) -> String {
        #"{"specversion":"1.0","id":"\#(id)","source":"/s","type":"\#(type)","data":{\#(data)}}"#
    }

    private static func twilioBody(_ id: Int, _ type: String, _ data: String) -> Step {
        Step([cloudBody("\(id)", "com.twilio.conversations.\(type)", #""ConversationSid":"CH1",\#(data)"#)])
    }

    /// Creation names nobody, and names are never told.
    static let twilio = Telling(
        .cloudevents,
        [
            [
                twilioBody(1, "conversation.added", #""FriendlyName":"General""#),
                twilioBody(2, "participant.added", #""Identity":"bob""#),
                twilioBody(3, "participant.added", #""Identity":"carol""#),
            ],
            twilioBody(4, "participant.added", #""Identity":"dave""#),
            twilioBody(5, "message.added", #""MessageSid":"1","Author":"bob","MessageBody":"Hello""#),
            twilioBody(6, "participant.removed", #""Identity":"dave""#),
            twilioBody(7, "conversation.updated", #""FriendlyName":"Lobby""#),
            twilioBody(8, "message.added", #""MessageSid":"2","Author":"carol","MessageBody":"Bye""#), [],
        ],
        told: [
            ["bob: carol | carol has joined General"],
            ["bob", "carol"].map { "\($0): dave | dave has joined General" },
            ["carol", "dave"].map { "\($0): bob (General) | Hello" }, [], [], ["bob: carol (Lobby) | Bye"], [],
        ],
        name: "Twilio"
    )

    private static func talkBody(
        _ id: Int,
        _ user: String,
        _ name: String?,
        _ text: String,
        _ subject: String,
        _ people: [String]
    ) -> Step {
        let participants = people.map { #""\#($0)":{"access":"ReadWrite"}"# }.joined(separator: ",")
        let name = name.map { #","name":"\#($0)""# } ?? ""
        return
            #"{"id":"\#(id)","type":"message.sent","data":{"sender":{"id":"\#(user)"\#(name)},"conversation":{"id":"general","subject":"\#(subject)","participants":{\#(participants)}},"message":{"id":"m\#(id)","text":"\#(text)"}}}"#
    }

    /// Only messages are told; each lists all who take part.
    static let talk = Telling(
        .talkjs,
        [
            [], [], talkBody(1, "bob", "Bob", "Hello", "General", ["alice", "bob", "carol", "dave"]), [], [],
            talkBody(2, "carol", "Carol", "Bye", "Lobby", ["alice", "bob", "carol"]),
            [
                #"{"id":"3","type":"user.updated","data":{"user":{"id":"carol","name":"Caroline"}}}"#,
                talkBody(4, "carol", nil, "Again", "Lobby", ["alice", "bob", "carol"]),
            ],
        ],
        told: [[], [], usual[2], [], [], usual[5], usual[6]]
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

    private static func matrixJoin(_ id: Int, _ user: String, _ name: String, was: String = "leave") -> String {
        matrixBody(id, user, "m.room.member", #""membership":"join","displayname":"\#(name)""#, key: user, was: was)
    }

    static func transaction(_ events: String...) -> Step { #"{"events":[\#(events.joined(separator: ","))]}"# }

    /// Creation and joins are events of their own.
    static let matrix = Telling(
        .matrix,
        [
            transaction(
                matrixBody(1, "alice", "m.room.create", "", key: ""),
                matrixJoin(2, "alice", "Alice"),
                matrixBody(3, "alice", "m.room.name", #""name":"General""#, key: ""),
                matrixJoin(4, "bob", "Bob"),
                matrixJoin(5, "carol", "Carol")
            ),
            transaction(matrixJoin(6, "dave", "Dave")),
            transaction(matrixBody(7, "bob", "m.room.message", #""msgtype":"m.text","body":"Hello""#)),
            transaction(matrixBody(8, "dave", "m.room.member", #""membership":"leave""#, key: "dave", was: "join")),
            transaction(matrixBody(9, "alice", "m.room.name", #""name":"Lobby""#, key: "")),
            transaction(matrixBody(10, "carol", "m.room.message", #""msgtype":"m.text","body":"Bye""#)),
            [
                transaction(matrixJoin(11, "carol", "Caroline", was: "join")),
                transaction(matrixBody(12, "carol", "m.room.message", #""msgtype":"m.text","body":"Again""#)),
            ],
        ],
        told: [onebyone, usual[1], usual[2], [], [], usual[5], usual[6]]
    )

    /// Who joins one by one, each told to those before.
    private static let onebyone = [
        "alice: Bob | Bob has joined General", "alice: Carol | Carol has joined General",
        "bob: Carol | Carol has joined General",
    ]

    private static func rocketBody(_ id: Int, _ user: String, _ name: String, _ text: String, _ channel: String)
        -> Step
    {
        #"{"token":"t","channel_id":"general","channel_name":"\#(channel)","message_id":"\#(id)","user_id":"\#(user)","user_name":"\#(name)","text":"\#(text)"}"#
    }

    /// Messages only; who is a member is imported.
    static let rocket = Telling(
        .rocketchat,
        [
            [], [], rocketBody(1, "bob", "Bob", "Hello", "General"), [], [],
            rocketBody(2, "carol", "Carol", "Bye", "Lobby"), rocketBody(3, "carol", "Caroline", "Again", "Lobby"),
        ],
        told: [[], [], ["alice: \(hello)", "carol: \(hello)"], [], [], usual[5], usual[6]],
        imported: ["alice", "bob", "carol"]
    )

    private static func rocketRoom(_ who: String, _ id: String, _ name: String, _ kind: String) -> Step {
        let body =
            #"{"token":"t","\#(who)":{"_id":"\#(id)","name":"\#(name)"},"room":{"_id":"general","name":"General"}}"#
        return Step([body], kind: kind)
    }

    /// Rooms as versions before 7.7 told of them. A room's new name comes with the next message.
    static let rocketRooms = Telling(
        .rocketchat,
        [
            [
                rocketRoom("owner", "alice", "Alice", "roomCreated"),
                rocketRoom("user", "bob", "Bob", "roomJoined"),
                rocketRoom("user", "carol", "Carol", "roomJoined"),
            ],
            rocketRoom("user", "dave", "Dave", "roomJoined"), rocket.steps[2],
            rocketRoom("user", "dave", "David", "roomLeft"), [], rocket.steps[5], rocket.steps[6],
        ],
        told: [onebyone, usual[1], usual[2], [], [], usual[5], usual[6]],
        name: "rooms"
    )

    private static func mattermostBody(_ id: Int, _ user: String, _ name: String, _ text: String, _ channel: String)
        -> Step
    {
        "token=t&channel_id=general&channel_name=\(channel)&post_id=\(id)&user_id=\(user)&user_name=\(name)&text=\(text)"
    }

    /// Messages in public channels only; who is a member is imported.
    static let mattermost = Telling(
        .mattermost,
        [
            [], [], mattermostBody(1, "bob", "Bob", "Hello", "General"), [], [],
            mattermostBody(2, "carol", "Carol", "Bye", "Lobby"),
            mattermostBody(3, "carol", "Caroline", "Again", "Lobby"),
        ],
        told: rocket.told,
        imported: ["alice", "bob", "carol"]
    )
}
