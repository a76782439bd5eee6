import CarillonCore

/// Those who know what members are.
extension Telling {
    static func amityBody(_ event: String, _ rest: String) -> Step {
        #"{"event":"\#(event)","data":{\#(rest)}}"#
    }

    static func amityMessage(_ id: Int, _ user: String, _ text: String, users: String = "") -> Step {
        amityBody(
            "message.didCreate",
            #""messages":[{"messageId":"\#(id)","channelId":"general","userId":"\#(user)","type":"text","data":{"text":"\#(text)"}}]\#(users)"#
        )
    }

    private static let amityChannel = #""channel":[{"channelId":"general","displayName":"General","type":"community"}]"#

    static let amity = Telling(
        .amity,
        [
            amityBody(
                "channel.didCreate",
                #"\#(amityChannel),"users":[{"userId":"alice","displayName":"Alice"},{"userId":"bob","displayName":"Bob"},{"userId":"carol","displayName":"Carol"}],"userIds":["alice","bob","carol"]"#
            ),
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
            amityMessage(1, "bob", "Hello", users: #","users":[{"userId":"bob","displayName":"Bob"}]"#),
            amityBody("channel.didLeave", #"\#(amityChannel),"userIds":["dave"]"#),
            amityBody(
                "channel.didUpdate",
                #""channel":[{"channelId":"general","displayName":"Lobby"}],"userId":"alice""#
            ),
            amityMessage(2, "carol", "Bye", users: #","users":[{"userId":"carol","displayName":"Carol"}]"#),
            [
                amityBody("user.didUpdate", #""users":[{"userId":"carol","displayName":"Caroline"}]"#),
                amityMessage(3, "carol", "Again"),
            ],
        ],
        told: [
            // Nothing says who created it, and bob is told to have added dave.
            ["alice: General | You're now member of General!"] + usual[0],
            usual[1].filter { !$0.hasPrefix("bob:") }, usual[2], [], [], usual[5], usual[6],
        ]
    )

    private static func streamBody(_ type: String, _ rest: String) -> Step {
        #"{"type":"\#(type)","cid":"m:general",\#(rest)}"#
    }

    static let stream = Telling(
        .stream,
        [
            [
                streamBody(
                    "channel.created",
                    #""channel":{"name":"General","created_by":{"id":"alice","name":"Alice"},"members":[{"user_id":"alice"},{"user_id":"bob","user":{"id":"bob","name":"Bob"}},{"user_id":"carol"}]}"#
                ),
                streamBody("member.added", #""member":{"user_id":"bob"}"#),
            ],
            streamBody(
                "member.added",
                #""member":{"user_id":"dave","user":{"id":"dave","name":"Dave"}},"members":[{"user_id":"alice"}]"#
            ),
            streamBody(
                "message.new",
                #""message":{"id":"1","text":"Hello","user":{"id":"bob","name":"Bob"}},"members":[{"user_id":"bob"}]"#
            ),
            streamBody("member.removed", #""member":{"user_id":"dave"}"#),
            streamBody("channel.updated", #""channel":{"name":"Lobby"}"#),
            streamBody("message.new", #""message":{"id":"2","text":"Bye","user":{"id":"carol","name":"Carol"}}"#),
            [
                #"{"type":"user.updated","user":{"id":"carol","name":"Caroline"}}"#,
                streamBody("message.new", #""message":{"id":"3","text":"Again","user":{"id":"carol"}}"#),
            ],
        ],
        told: usual
    )

    private static func sendbirdBody(_ category: String, _ rest: String, name: String = "General") -> Step {
        #"{"category":"group_channel:\#(category)","channel":{"channel_url":"general","name":"\#(name)"},\#(rest)}"#
    }

    private static func sendbirdMessage(
        _ id: Int,
        _ user: String,
        _ name: String,
        _ text: String,
        at milliseconds: Int,
        in group: String = "General"
    ) -> Step {
        sendbirdBody(
            "message_send",
            #""sender":{"user_id":"\#(user)","nickname":"\#(name)"},"type":"MESG","payload":{"message_id":\#(id),"message":"\#(text)","created_at":1763632790\#(milliseconds)}"#,
            name: group
        )
    }

    static let sendbird = Telling(
        .sendbird,
        [
            [
                sendbirdBody(
                    "create",
                    #""created_at":1763632790000,"inviter":{"user_id":"alice","nickname":"Alice"},"members":[{"user_id":"alice"},{"user_id":"bob","state":"joined"},{"user_id":"carol","state":"joined"}]"#
                ),
                sendbirdBody("join", #""joined_at":1763632790001,"users":[{"user_id":"bob","nickname":"Bob"}]"#),
                sendbirdBody("join", #""joined_at":1763632790001,"users":[{"user_id":"carol","nickname":"Carol"}]"#),
            ],
            sendbirdBody("join", #""joined_at":1763632790100,"users":[{"user_id":"dave","nickname":"Dave"}]"#),
            sendbirdMessage(1, "bob", "Bob", "Hello", at: 200),
            sendbirdBody("leave", #""left_at":1763632790300,"users":[{"user_id":"dave"}]"#),
            sendbirdBody(
                "changed",
                #""changed_at":1763632790400,"changes":[{"key":"name","new":"Lobby"}]"#,
                name: "Lobby"
            ),
            sendbirdMessage(2, "carol", "Carol", "Bye", at: 500, in: "Lobby"),
            sendbirdMessage(3, "carol", "Caroline", "Again", at: 600, in: "Lobby"),
        ],
        told: usual
    )

    private static func cometBody(_ trigger: String, _ rest: String, name: String = "General") -> Step {
        #"{"trigger":"\#(trigger)","appId":"A","data":{"group":{"guid":"general","name":"\#(name)","owner":"alice"},\#(rest)}}"#
    }

    private static func cometMessage(_ id: String, _ user: String, _ name: String, _ text: String, in group: String)
        -> Step
    {
        #"{"trigger":"message_sent","appId":"A","data":{"message":{"id":"\#(id)","sender":"\#(user)","receiverType":"group","receiver":"general","category":"message","type":"text","data":{"text":"\#(text)","entities":{"sender":{"entity":{"uid":"\#(user)","name":"\#(name)"}},"receiver":{"entity":{"guid":"general","name":"\#(group)"}}}}}}}"#
    }

    static let comet = Telling(
        .cometchat,
        [
            cometBody(
                "group_created",
                #""members":{"alice":{"uid":"alice"},"bob":{"uid":"bob"},"carol":{"uid":"carol"}}"#
            ),
            cometBody("group_member_joined", #""members":{"dave":{"uid":"dave","name":"Dave"}}"#),
            cometMessage("1", "bob", "Bob", "Hello", in: "General"),
            cometBody("group_member_left", #""members":{"dave":{"uid":"dave"}}"#),
            cometBody("group_updated", #""x":1"#, name: "Lobby"),
            cometMessage("2", "carol", "Carol", "Bye", in: "Lobby"),
            cometMessage("3", "carol", "Caroline", "Again", in: "Lobby"),
        ],
        told: usual
    )
}
