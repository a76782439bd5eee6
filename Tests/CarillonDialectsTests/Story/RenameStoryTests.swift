import CarillonCore
import CarillonTesting
import Testing

/// What is renamed at a time of its own, after somebody has joined or left of whom it is only known when that was heard of.
@Suite(.timeLimit(.minutes(1))) struct RenameStoryTests {
    @Test(arguments: Telling.renames)
    func `a name holds from when it was given, whatever arrived before it was heard of`(_ telling: Telling) async throws
    {
        try await Stage.run(telling) { stage in
            var heard: [String] = []
            for posts in telling.steps { heard = try await stage.tell(posts) }
            #expect(heard == telling.told.last)
        }
    }
}

extension Telling {
    static let renames = [amityRename, amityBeginning, amityUnnamed, cometRename, cometBeginning]

    private static func amity(_ steps: [Step], told: [String], name: String) -> Telling {
        Telling(.amity, steps + [amityMessage(1, "bob", "Hi")], told: [told], name: name)
    }

    private static let general =
        #""channel":[{"channelId":"general","displayName":"General","createdAt":"2025-11-20T10:00:00Z"}]"#
    private static let bob = #"{"userId":"bob","displayName":"Bob","updatedAt":"2025-11-20T09:00:00Z"}"#

    private static let founders =
        #"\#(general),"users":[{"userId":"alice"},\#(bob)],"userIds":["alice","bob"]"#
    private static let amityJoin = amityBody("channel.didJoin", founders)

    private static let amityRename = amity(
        [
            amityBody("channel.didCreate", founders),
            amityBody(
                "channel.didAddUsers",
                #"\#(general),"users":[{"userId":"dave","displayName":"Dave"},\#(bob)],"userIds":["dave"],"adderId":"bob""#
            ),
            amityBody("channel.didBan", #"\#(general),"users":[\#(bob)],"userIds":["dave"],"actorId":"bob""#),
            amityBody(
                "channel.didUpdate",
                #""channel":[{"channelId":"general","displayName":"Lobby","updatedAt":"2025-11-20T10:04:00Z"}]"#
            ),
            amityBody(
                "user.didUpdate",
                #""users":[{"userId":"bob","displayName":"Bobby","updatedAt":"2025-11-20T10:05:00Z"}]"#
            ),
        ],
        told: ["alice: Bobby (Lobby) | Hi"],
        name: "renamed"
    )

    /// What was named by nothing else goes by the name that those had who joined.
    private static let amityBeginning = amity(
        [amityJoin],
        told: ["alice: Bob (General) | Hi"],
        name: "begun by a join"
    )

    private static let amityUnnamed = amity(
        [amityJoin, amityBody("channel.didUpdate", #""channel":[{"channelId":"general","displayName":null}]"#)],
        told: ["alice: Bob | Hi"],
        name: "begun by a join, and named no more"
    )

    private static func comet(_ trigger: String, _ group: String, _ rest: String = "") -> Step {
        #"{"trigger":"\#(trigger)","appId":"A1","data":{"group":{"guid":"general",\#(group)}\#(rest)}}"#
    }

    private static func comet(_ steps: [Step], told: [String], name: String) -> Telling {
        let message: Step =
            #"{"trigger":"message_sent","appId":"A1","data":{"message":{"id":"1","sender":"bob","receiver":"general","receiverType":"group","type":"text","data":{"text":"Hi"}}}}"#
        return Telling(.cometchat, steps + [message], told: [told], name: name)
    }

    private static let cometRename = comet(
        [
            comet(
                "group_created",
                #""name":"General","createdAt":1763632800"#,
                #","members":{"alice":{"uid":"alice"},"bob":{"uid":"bob","name":"Bob"}}"#
            ),
            comet("group_member_joined", #""name":"General""#, #","members":{"dave":{"uid":"dave"}}"#),
            comet("group_member_left", #""name":"General""#, #","members":{"dave":{"uid":"dave"}}"#),
            comet("group_updated", #""name":"Lobby","updatedAt":1763633040"#),
        ],
        told: ["alice: Bob (Lobby) | Hi"],
        name: "renamed"
    )

    private static let cometBeginning = comet(
        [
            comet(
                "group_member_joined",
                #""name":"General""#,
                #","members":{"alice":{"uid":"alice"},"bob":{"uid":"bob","name":"Bob"}}"#
            )
        ],
        told: ["alice: Bob (General) | Hi"],
        name: "begun by a join"
    )
}
