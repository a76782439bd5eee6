import CarillonCore
import CarillonDialects
import Testing

/// What each body of each dialect becomes: DIALECTS sections 3 to 11, row by row.
@Suite struct MappingTests {
    /// What is posted, and the canonical events of it without their ids and times, separated by commas; none for what is ignored.
    typealias Table = KeyValuePairs<String, String>

    struct Row: Sendable, CustomTestStringConvertible {
        var dialect: DialectName
        var body: String
        /// As in a ``Table``.
        var events = ""
        var settings = JSONObject()
        /// What the URL says happened.
        var event: String?
        var headers: [(name: String, value: String)] = []

        var query: [(name: String, value: String)] { event.map { [("event", $0)] } ?? [] }
        var testDescription: String { "\(dialect) \(body.prefix(60))" }
    }

    @Test(arguments: all)
    func becomes(_ row: Row) throws {
        let scene = Scene(row.dialect, settings: row.settings)
        let reading = try scene.read(row.body, headers: row.headers, query: row.query)
        let canonical = reading.canonical.map { event -> JSONValue in
            guard case .object(var object) = event else { return event }
            object["id"] = nil
            object["timestamp"] = nil
            return .object(object)
        }
        #expect(try JSONValue.array(canonical) == JSONValue(parsing: "[\(row.events)]"))
        if row.events.isEmpty { #expect(!reading.reasons.isEmpty) }
        reading.expectKept(receivedAt: scene.now)
    }

    /// The same body twice is the same event.
    @Test(arguments: all)
    func `has the same id when it is sent again`(_ row: Row) throws {
        var scene = Scene(row.dialect, settings: row.settings)
        let first = try scene.read(row.body, headers: row.headers, query: row.query).known.map(\.sourceID)
        scene.now = scene.now + .seconds(10)
        let again = try scene.read(row.body, headers: row.headers, query: row.query).known.map(\.sourceID)
        #expect(first == again)
        #expect(Set(first).count == first.count)
        #expect(first.allSatisfy { Identifier<Event>($0) != nil })
    }

    static func several(_ events: String...) -> String { events.joined(separator: ",") }

    private static func rows(_ dialect: DialectName, event: String? = nil, _ table: Table) -> [Row] {
        table.map { Row(dialect: dialect, body: $0, events: $1, event: event) }
    }

    static let all: [Row] = Array(
        [
            rows(.amity, amity), rows(.amity, amityTimes), rows(.stream, stream), rows(.stream, streamContent),
            rows(.sendbird, sendbird), rows(.cometchat, comet), rows(.cometchat, cometContent), rows(.talkjs, talk),
            rows(.matrix, matrix), rows(.rocketchat, rocket),
            rocketRooms.flatMap { rows(.rocketchat, event: $0, $1) }, rows(.mattermost, mattermost),
            rows(.cloudevents, twilio), special,
        ].joined()
    )

    static let amity: Table = [
        #"{"event":"channel.didCreate","data":{"channel":[{"channelId":"general","displayName":"General","type":"community"}],"users":[{"userId":"bob","displayName":"Bob","roles":["mod"]}],"userIds":["bob","carol"]}}"#:
            #"{"type":"channel.created","data":{"channel":{"id":"general","displayName":"General"},"members":[{"id":"bob","displayName":"Bob","roles":["mod"]},{"id":"carol"}]}}"#,
        #"{"event":"channel.didCreate","data":{"channel":{"channelId":"c","type":"conversation"},"users":[{"userId":"bob"}]}}"#:
            #"{"type":"channel.created","data":{"channel":{"id":"c","fallbackName":null,"direct":true},"members":[{"id":"bob"}]}}"#,
        #"{"event":"channel.didJoin","data":{"channel":[{"channelId":"c","notificationMode":"silent"}],"userIds":["dave"]}}"#:
            #"{"type":"member.joined","data":{"channel":{"id":"c","fallbackName":null},"members":[{"id":"dave"}],"newOnly":true,"notify":false}}"#,
        #"{"event":"channel.didAddUsers","data":{"channel":[{"channelId":"c"}],"users":[{"userId":"dave","displayName":"Dave"},{"userId":"eve","displayName":"Eve"}],"userIds":["dave"],"adderId":"bob"}}"#:
            #"{"type":"member.joined","data":{"channel":{"id":"c","fallbackName":null},"user":{"id":"bob"},"members":[{"id":"dave","displayName":"Dave"}],"existingMembers":[{"id":"bob"}],"people":[{"id":"eve","displayName":"Eve"}],"newOnly":true}}"#,
        #"{"event":"channel.didLeave","data":{"channel":[{"channelId":"c"}],"userIds":["dave"]}}"#:
            #"{"type":"member.left","data":{"channel":{"id":"c","fallbackName":null},"members":[{"id":"dave"}]}}"#,
        #"{"event":"channel.didRemoveUsers","data":{"channel":[{"channelId":"c"}],"userIds":["dave"],"removerId":"bob"}}"#:
            #"{"type":"member.left","data":{"channel":{"id":"c","fallbackName":null},"user":{"id":"bob"},"members":[{"id":"dave"}]}}"#,
        #"{"event":"channel.didBan","data":{"channel":[{"channelId":"c"}],"userIds":["dave"],"actorId":"bob"}}"#:
            #"{"type":"member.left","data":{"channel":{"id":"c","fallbackName":null},"user":{"id":"bob"},"members":[{"id":"dave"}]}}"#,
        #"{"event":"channel.didUpdate","data":{"channel":[{"channelId":"c","displayName":"Lobby"}],"users":[{"userId":"bob","displayName":"Bob"}],"userId":"bob"}}"#:
            #"{"type":"channel.updated","data":{"channel":{"id":"c","displayName":"Lobby"},"user":{"id":"bob","displayName":"Bob"}}}"#,
        #"{"event":"channel.didClose","data":{"channel":[{"channelId":"c"}]}}"#:
            #"{"type":"channel.deleted","data":{"channel":{"id":"c","fallbackName":null}}}"#,
        #"{"event":"message.didCreate","data":{"messages":[{"messageId":"m-1","channelId":"c","userId":"bob","type":"text","data":{"text":"Hello @Carol"},"mentionees":[{"type":"user","userIds":["carol"]},{"type":"role","userIds":["dave"]}]},{"messageId":"m-2","channelId":"c","userId":"bob","type":"video","data":{},"mentionees":[{"type":"channel"}]}],"users":[{"userId":"bob","displayName":"Bob"}]}}"#:
            several(
                #"{"type":"message.sent","data":{"channel":{"id":"c"},"user":{"id":"bob","displayName":"Bob"},"message":{"id":"m-1","type":"text","text":"Hello @Carol"},"mentions":["carol"]}}"#,
                #"{"type":"message.sent","data":{"channel":{"id":"c"},"user":{"id":"bob","displayName":"Bob"},"message":{"id":"m-2","type":"video","text":""},"mentionsAll":true}}"#
            ),
        #"{"event":"user.didUpdate","data":{"users":[{"userId":"bob","displayName":"Bob"},{"userId":"eve","isDeleted":true}]}}"#:
            several(
                #"{"type":"user.updated","data":{"user":{"id":"bob","displayName":"Bob"}}}"#,
                #"{"type":"user.deleted","data":{"user":{"id":"eve"}}}"#
            ),
        #"{"event":"message.didCreate","data":{"messages":[{"messageId":"m","channelId":"c","userId":"u","isDeleted":true}]}}"#:
            "",
        #"{"event":"message.didDelete","data":{"messages":[{"messageId":"m","channelId":"c","userId":"u","isDeleted":true}]}}"#:
            #"{"type":"message.deleted","data":{"channel":{"id":"c"},"user":{"id":"u"},"message":{"id":"m"}}}"#,
        #"{"event":"message.didCreate","data":{"messages":[{"messageId":"m","channelId":"c","userId":"u","type":"image","data":{"caption":"By the sea"}}]}}"#:
            #"{"type":"message.sent","data":{"channel":{"id":"c"},"user":{"id":"u"},"message":{"id":"m","type":"image","text":"","caption":"By the sea"}}}"#,
        #"{"event":"channel.didCreate","data":{"channel":{"channelId":"6f1a0b2c","displayName":"6f1a0b2c"},"userIds":["bob"]}}"#:
            #"{"type":"channel.created","data":{"channel":{"id":"6f1a0b2c","displayName":null},"members":[{"id":"bob"}]}}"#,
        #"{"event":"v3.post.didCreate","data":{}}"#: "",
        #"{"event":"channel.didJoin","data":{"channel":[{"channelId":"c"}]}}"#: "",
        #"{"eventType":"push-notification.created","id":"n-1","senderId":"bob","data":{"eventName":"channel.joined","targetIds":["carol","bob","dave"],"notify":true,"title":"General","body":"Bob joined","channels":[{"channelId":"c"}]}}"#:
            #"{"type":"notification.direct","data":{"to":{"userIds":["carol","dave"]},"title":"General","body":"Bob joined","data":{"channelId":"c"},"channelId":"c","actorId":"bob","module":"chat"}}"#,
        #"{"eventType":"push-notification.created","id":"n-2","data":{"eventName":"post.created","targetIds":["carol"],"notify":false,"body":"New post"}}"#:
            #"{"type":"notification.direct","data":{"to":{"userIds":["carol"]},"body":"New post","module":"social","notify":false}}"#,
        #"{"eventType":"push-notification.created","id":"n","data":{"isBroadcast":true,"targetIds":[],"title":"x"}}"#:
            "",
    ]

    private static func streamed(_ message: String) -> String {
        #"{"type":"message.new","cid":"a:b","message":{"id":"m","user":{"id":"bob"},\#(message)}}"#
    }

    private static func said(_ message: String) -> String {
        #"{"type":"message.sent","data":{"channel":{"id":"a:b"},"user":{"id":"bob"},"message":{"id":"m",\#(message)}}}"#
    }

    static let streamContent: Table = [
        streamed(#""text":"See :tada:","attachments":[{"type":"image","og_scrape_url":"https://x"}]"#):
            said(#""type":"text","text":"See 🎉""#),
        streamed(#""text":"See https://x","attachments":[{"type":"image","title_link":"https://x"}]"#):
            said(#""type":"text","text":"See https://x""#),
        streamed(#""text":"","attachments":[{"type":"giphy","title_link":"https://x"}]"#):
            said(#""type":"giphy","text":"""#),
        streamed(#""text":"By the sea","attachments":[{"type":"image"}]"#):
            said(#""type":"image","text":"","caption":"By the sea""#),
        streamed(#""text":"","poll_id":"p-1""#): said(#""type":"poll","text":"","kind":"poll""#),
        streamed(#""text":"","shared_location":{"latitude":1}"#):
            said(#""type":"location","text":"","kind":"location""#),
        #"{"type":"message.deleted","cid":"a:b","user":{"id":"bob"},"message":{"id":"m"}}"#:
            #"{"type":"message.deleted","data":{"channel":{"id":"a:b"},"user":{"id":"bob"},"message":{"id":"m"}}}"#,
        #"{"type":"member.added","cid":"a:b","member":{"user_id":"bob","invited":true},"user":{"id":"bob"}}"#: "",
        #"{"type":"member.updated","cid":"a:b","member":{"user_id":"bob","invited":true,"invite_accepted_at":"2026-11-20T10:00:00Z"},"user":{"id":"bob"}}"#:
            #"{"type":"member.joined","data":{"channel":{"id":"a:b"},"members":[{"id":"bob"}],"newOnly":true}}"#,
        #"{"type":"member.updated","cid":"a:b","member":{"user_id":"bob"},"user":{"id":"bob"}}"#: "",
        #"{"type":"channel.created","cid":"messaging:!members-x","channel":{"id":"!members-x"},"user":{"id":"bob"}}"#:
            #"{"type":"channel.created","data":{"channel":{"id":"messaging:!members-x","displayName":null},"user":{"id":"bob"}}}"#,
    ]

    static let stream: Table = [
        #"{"type":"channel.created","created_at":"2025-11-20T10:00:00Z","cid":"messaging:general","channel":{"id":"general","name":"General","created_by":{"id":"alice","name":"Alice"},"members":[{"user_id":"alice"},{"user_id":"bob","user":{"id":"bob","name":"Bob"}},{"user_id":"eve","invited":true}]},"user":{"id":"alice"}}"#:
            #"{"type":"channel.created","data":{"channel":{"id":"messaging:general","displayName":"General"},"user":{"id":"alice","displayName":"Alice"},"members":[{"id":"alice"},{"id":"bob","displayName":"Bob"}]}}"#,
        #"{"type":"member.removed","cid":"messaging:general","user":{"id":"carol"}}"#:
            #"{"type":"member.left","data":{"channel":{"id":"messaging:general"},"members":[{"id":"carol"}]}}"#,
        #"{"type":"message.new","channel_type":"messaging","channel_id":"!members-x","message":{"id":"m","text":"","parent_id":"p","user":{"id":"bob"},"attachments":[{"type":"video"}],"thread_participants":[{"user_id":"eve"}],"mentioned_users":[{"id":"carol"}]},"members":[{"user_id":"bob"},{"user_id":"carol"}]}"#:
            #"{"type":"message.sent","data":{"channel":{"id":"messaging:!members-x","fallbackName":null,"direct":true},"user":{"id":"bob"},"members":[{"id":"bob"},{"id":"carol"}],"message":{"id":"m","type":"video","text":""},"mentions":["carol"],"visibleTo":["carol","eve"]}}"#,
        #"{"type":"message.new","cid":"a:b","message":{"id":"m","text":"psst","user":{"id":"bob"},"restricted_visibility":["carol"],"attachments":[{"type":"image"}],"silent":true}}"#:
            #"{"type":"message.sent","data":{"channel":{"id":"a:b"},"user":{"id":"bob"},"message":{"id":"m","type":"image","text":"","caption":"psst"},"visibleTo":["carol"]}}"#,
        #"{"type":"message.new","cid":"a:!members-x","channel_member_count":3,"message":{"id":"m","text":"hi","user":{"id":"bob"}},"members":[{"user_id":"bob"},{"user_id":"carol","notifications_muted":true},{"user_id":"dave"}]}"#:
            #"{"type":"message.sent","data":{"channel":{"id":"a:!members-x","fallbackName":null,"direct":false},"user":{"id":"bob"},"members":[{"id":"bob"},{"id":"carol"},{"id":"dave"}],"message":{"id":"m","type":"text","text":"hi"},"hiddenFrom":["carol"]}}"#,
        // Not all are listed: whoever is not may have muted nothing.
        #"{"type":"message.new","cid":"a:b","channel_member_count":51,"message":{"id":"m","text":"hi","user":{"id":"bob"}},"members":[{"user_id":"bob"},{"user_id":"carol","notifications_muted":true}]}"#:
            #"{"type":"message.sent","data":{"channel":{"id":"a:b"},"user":{"id":"bob"},"members":[{"id":"bob"},{"id":"carol"}],"message":{"id":"m","type":"text","text":"hi"},"hiddenFrom":["carol"]}}"#,
        #"{"type":"channel.updated","cid":"a:b","channel":{"custom":{"name":"Lobby"}},"user":{"id":"alice"}}"#:
            #"{"type":"channel.updated","data":{"channel":{"id":"a:b","displayName":"Lobby"},"user":{"id":"alice"}}}"#,
        #"{"type":"channel.deleted","cid":"a:b"}"#: #"{"type":"channel.deleted","data":{"channel":{"id":"a:b"}}}"#,
        #"{"type":"user.reactivated","user":{"id":"carol","name":"Carol"}}"#:
            #"{"type":"user.updated","data":{"user":{"id":"carol","displayName":"Carol"}}}"#,
        #"{"type":"user.deleted","user":{"id":"carol","name":"x"}}"#:
            #"{"type":"user.deleted","data":{"user":{"id":"carol"}}}"#,
        #"{"type":"message.new","cid":"a:b","message":{"id":"m","type":"system","user":{"id":"u"}}}"#: "",
        #"{"type":"message.new","cid":"a:b","message":{"id":"m","shadowed":true,"user":{"id":"u"}}}"#: "",
        #"{"type":"message.new","message":{"id":"m","user":{"id":"u"}}}"#: "",
        #"{"type":"user.deactivated","user":{"id":"u"}}"#: "",
        #"{"type":"reaction.new"}"#: "",
    ]

    static let sendbird: Table = [
        #"{"category":"group_channel:invite","invited_at":1,"inviter":{"user_id":"a"},"invitees":[{"user_id":"b","nickname":"Bob"}],"members":[{"user_id":"a","nickname":"Alice"}],"channel":{"name":"General","channel_url":"g"}}"#:
            #"{"type":"channel.invited","data":{"channel":{"id":"g","displayName":"General"},"user":{"id":"a","displayName":"Alice"},"invited":[{"id":"b","displayName":"Bob"}]}}"#,
        #"{"category":"group_channel:message_delete","deleted_at":1763632790000,"payload":{"message_id":7},"channel":{"name":"Group Channel","channel_url":"g"}}"#:
            #"{"type":"message.deleted","data":{"channel":{"id":"g","displayName":null},"message":{"id":"7"}}}"#,
        #"{"category":"group_channel:create","created_at":1763632790000,"inviter":{"user_id":"alice","nickname":"Alice"},"members":[{"user_id":"alice","nickname":"Alice","state":"joined"},{"user_id":"bob","nickname":"Bob","state":"invited"}],"channel":{"name":"General","channel_url":"general","is_distinct":true}}"#:
            #"{"type":"channel.created","data":{"channel":{"id":"general","displayName":"General","direct":true},"user":{"id":"alice","displayName":"Alice"},"members":[{"id":"alice","displayName":"Alice"}],"invited":[{"id":"bob","displayName":"Bob"}]}}"#,
        KnownAnswerTests.joinBody:
            #"{"type":"member.joined","data":{"channel":{"id":"general","displayName":"General"},"members":[{"id":"carol","displayName":"Carol"}],"existingMembers":[{"id":"alice","displayName":"Alice"}],"newOnly":true}}"#,
        #"{"category":"group_channel:join","joined_at":1,"users":[{"user_id":"b","inviter":{"user_id":"a"}},{"user_id":"c","inviter":{"user_id":"a"}}],"channel":{"channel_url":"g"}}"#:
            #"{"type":"member.joined","data":{"channel":{"id":"g","fallbackName":null},"user":{"id":"a"},"members":[{"id":"b"},{"id":"c"}],"newOnly":true}}"#,
        #"{"category":"group_channel:leave","left_at":1763632790000,"users":[],"leavers":[{"user_id":"bob"}],"channel":{"channel_url":"g"}}"#:
            #"{"type":"member.left","data":{"channel":{"id":"g","fallbackName":null},"members":[{"id":"bob"}]}}"#,
        #"{"category":"group_channel:changed","changes":[{"key":"name","old":"General","new":"Lobby"}],"channel":{"name":"General","channel_url":"g"}}"#:
            #"{"type":"channel.updated","data":{"channel":{"id":"g","displayName":"Lobby"}}}"#,
        #"{"category":"group_channel:remove","removed_at":1,"channel":{"channel_url":"g"}}"#:
            #"{"type":"channel.deleted","data":{"channel":{"id":"g","fallbackName":null}}}"#,
        KnownAnswerTests.sendbirdBody:
            #"{"type":"message.sent","data":{"channel":{"id":"general","displayName":"General"},"user":{"id":"alice","displayName":"Alice"},"message":{"id":"3000000001","type":"text","text":"see https://x.example"}}}"#,
        #"{"category":"group_channel:message_send","sender":{"user_id":"a"},"silent":true,"type":"FILE","mention_type":"channel","mentioned_users":[{"user_id":"b"}],"payload":{"message_id":9007199254740993,"content_type":"image/png","filename":"x"},"channel":{"channel_url":"g"},"members":[{"user_id":"b","state":"joined"},{"user_id":"c","state":"invited"}]}"#:
            #"{"type":"message.sent","data":{"channel":{"id":"g","fallbackName":null},"user":{"id":"a"},"members":[{"id":"b"}],"message":{"id":"9007199254740993","type":"image","text":""},"mentions":["b"],"mentionsAll":true,"notify":false}}"#,
        #"{"category":"open_channel:message_send","sender":{"user_id":"a"},"type":"FILE","payload":{"message_id":1,"content_type":"application/pdf"},"channel":{"channel_url":"o"}}"#:
            #"{"type":"message.sent","data":{"channel":{"id":"o","fallbackName":null},"user":{"id":"a"},"senderIsMember":false,"message":{"id":"1","type":"file","text":""}}}"#,
        #"{"category":"open_channel:create","operators":[{"user_id":"a"}],"channel":{"channel_url":"o"}}"#:
            #"{"type":"channel.created","data":{"channel":{"id":"o","fallbackName":null},"members":[{"id":"a"}]}}"#,
        #"{"category":"open_channel:exit","user":{"user_id":"a"},"channel":{"channel_url":"o"}}"#: "",
        #"{"category":"group_channel:message_send","type":"ADMM","payload":{"message_id":1},"channel":{"channel_url":"g"}}"#:
            "",
        #"{"category":"group_channel:message_send","type":"MESG","sender":{"user_id":"a"},"payload":{"message_id":1,"message":"Hi"},"channel":{"channel_url":"g","is_distinct":true},"members":[{"user_id":"a"},{"user_id":"b"},{"user_id":"c","is_blocking_sender":true}]}"#:
            #"{"type":"message.sent","data":{"channel":{"id":"g","fallbackName":null,"direct":false},"user":{"id":"a"},"members":[{"id":"a"},{"id":"b"},{"id":"c"}],"message":{"id":"1","type":"text","text":"Hi"},"hiddenFrom":["c"]}}"#,
        #"{"category":"group_channel:invite","invitees":[{"user_id":"a"}],"channel":{"channel_url":"g"}}"#: "",
        #"{"category":"profanity_filter:replace"}"#: "",
    ]
}
