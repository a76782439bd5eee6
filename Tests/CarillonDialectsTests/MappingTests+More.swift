import CarillonCore
import CarillonDialects
import Testing

extension MappingTests {
    static let comet: Table = [
        #"{"trigger":"message_sent","appId":"A1","data":{"message":{"id":"77","conversationId":"bob_user_alice","sender":"alice","receiverType":"user","receiver":"bob","category":"message","type":"text","data":{"text":"hi <@uid:bob> <@all:x>","mentions":{"bob":{"uid":"bob","name":"Bob"}},"entities":{"sender":{"entity":{"uid":"alice","name":"Alice"}},"receiver":{"entity":{"uid":"bob","name":"Bob"}}}},"sentAt":1763632800}}}"#:
            #"{"type":"message.sent","data":{"channel":{"id":"alice_user_bob","displayName":null,"direct":true},"user":{"id":"alice","displayName":"Alice"},"members":[{"id":"alice","displayName":"Alice"},{"id":"bob","displayName":"Bob"}],"message":{"id":"77","type":"text","text":"hi @Bob @x"},"mentions":["bob"],"mentionsAll":true}}"#,
        #"{"trigger":"after_message","data":{"id":"78","sender":"bob","receiverType":"group","receiver":"general","category":"custom","type":"location","data":{"entities":{"receiver":{"entity":{"guid":"general","name":"General"}}}}}}"#:
            #"{"type":"message.sent","data":{"channel":{"id":"general","displayName":"General"},"user":{"id":"bob"},"message":{"id":"78","type":"location","text":""}}}"#,
        #"{"trigger":"group_created","data":{"group":{"guid":"g","name":"General","owner":"alice","createdAt":1763632800},"members":{"alice":{"uid":"alice","name":"Alice"},"bob":{"uid":"bob"}}}}"#:
            #"{"type":"channel.created","data":{"channel":{"id":"g","displayName":"General"},"user":{"id":"alice","displayName":"Alice"},"members":[{"id":"alice","displayName":"Alice"},{"id":"bob"}]}}"#,
        #"{"trigger":"group_member_joined","data":{"group":{"guid":"g"},"members":[{"uid":"carol"}]}}"#:
            #"{"type":"member.joined","data":{"channel":{"id":"g","fallbackName":null},"members":[{"id":"carol"}],"newOnly":true}}"#,
        #"{"trigger":"group_member_added","data":{"group":{"guid":"g"},"members":{"carol":{"uid":"carol"}},"by":"alice"}}"#:
            #"{"type":"member.joined","data":{"channel":{"id":"g","fallbackName":null},"user":{"id":"alice"},"members":[{"id":"carol"}],"newOnly":true}}"#,
        #"{"trigger":"group_member_kicked","data":{"group":{"guid":"g"},"members":{"carol":{}},"by":{"uid":"alice"}}}"#:
            #"{"type":"member.left","data":{"channel":{"id":"g","fallbackName":null},"user":{"id":"alice"},"members":[{"id":"carol"}]}}"#,
        #"{"trigger":"group_member_banned","data":{"group":{"guid":"g"},"members":{"carol":{"uid":"carol"}},"by":{"uid":"alice"}}}"#:
            #"{"type":"member.left","data":{"channel":{"id":"g","fallbackName":null},"user":{"id":"alice"},"members":[{"id":"carol"}]}}"#,
        #"{"trigger":"group_member_banned","data":{"group":{"guid":"g"},"members":{"alice":{"uid":"alice"}},"by":{"uid":"alice"}}}"#:
            "",
        #"{"trigger":"group_updated","data":{"group":{"guid":"g","name":"Lobby","updatedAt":1763632800}}}"#:
            #"{"type":"channel.updated","data":{"channel":{"id":"g","displayName":"Lobby"}}}"#,
        #"{"trigger":"group_deleted","data":{"group":{"guid":"g"}}}"#:
            #"{"type":"channel.deleted","data":{"channel":{"id":"g","fallbackName":null}}}"#,
        #"{"trigger":"user_mentioned","data":{"message":{"id":"1"}}}"#: "",
        #"{"trigger":"before_message","data":{"id":"1","sender":"a","receiver":"b"}}"#: "",
        #"{"trigger":"message_sent","data":{"message":{"id":"1","sender":"a","receiver":"b","category":"action"}}}"#:
            "",
    ]

    static let cometContent: Table = [
        #"{"trigger":"message_sent","appId":"A1","data":{"message":{"id":"7","sender":"a","receiver":"g","receiverType":"group","category":"call","type":"audio","data":{"action":"initiated"}}}}"#:
            #"{"type":"message.sent","data":{"channel":{"id":"g"},"user":{"id":"a"},"message":{"id":"7","type":"call","text":"","kind":"call"}}}"#,
        #"{"trigger":"message_sent","appId":"A1","data":{"message":{"id":"7","sender":"a","receiver":"g","receiverType":"group","category":"call","type":"audio","data":{"action":"ended"}}}}"#:
            "",
        #"{"trigger":"message_sent","appId":"A1","data":{"message":{"id":"7","sender":"a","receiver":"g","receiverType":"group","type":"image","data":{"text":"By the sea"}}}}"#:
            #"{"type":"message.sent","data":{"channel":{"id":"g"},"user":{"id":"a"},"message":{"id":"7","type":"image","text":"","caption":"By the sea"}}}"#,
        #"{"trigger":"message_deleted","appId":"A1","data":{"message":{"id":"8","category":"action","sentAt":1763632800,"data":{"action":"deleted","entities":{"by":{"entity":{"uid":"a"},"entityType":"user"},"on":{"entity":{"id":"7","sender":"a","receiver":"g","receiverType":"group"},"entityType":"message"}}}}}}"#:
            #"{"type":"message.deleted","data":{"channel":{"id":"g"},"user":{"id":"a"},"message":{"id":"7"}}}"#,
    ]

    static let talk: Table = [
        #"{"id":"e","type":"message.deleted","createdAt":1763632800000,"data":{"conversation":{"id":"c"},"message":{"id":"m"}}}"#:
            #"{"type":"message.deleted","data":{"channel":{"id":"c"},"message":{"id":"m"}}}"#,
        KnownAnswerTests.talkJSBody:
            #"{"type":"message.sent","data":{"channel":{"id":"general","displayName":"General","direct":true},"user":{"id":"alice","displayName":"Alice"},"members":[{"id":"alice"},{"id":"bob"}],"message":{"id":"msg_1","type":"text","text":"Hello"},"visibleTo":["alice","bob"]}}"#,
        #"{"id":"e","type":"message.sent","data":{"sender":{"id":"a","locale":"de-DE","role":"buyer"},"conversation":{"id":"c","subject":null,"participants":{"a":{"access":"ReadWrite"},"b":{"access":"None"},"d":{"notify":false},"e":{"notify":"MentionsOnly"},"f":{"notify":"MentionsOnly"}}},"message":{"id":"m","attachment":{"url":"https://x.example/a.PNG?x=1"}},"mentionedUserIds":["f"]}}"#:
            #"{"type":"message.sent","data":{"channel":{"id":"c","displayName":null,"direct":false},"user":{"id":"a","locale":"de-DE","roles":["buyer"]},"members":[{"id":"a"},{"id":"d"},{"id":"e"},{"id":"f"}],"message":{"id":"m","type":"image","text":""},"mentions":["f"],"visibleTo":["a","f"]}}"#,
        #"{"id":"e","type":"message.sent","data":{"sender":null,"conversation":{"id":"c"},"message":{"type":"SystemMessage"}}}"#:
            "",
        #"{"id":"e","type":"conversation.deleted","data":{"conversation":{"id":"c"}}}"#:
            #"{"type":"channel.deleted","data":{"channel":{"id":"c"}}}"#,
        #"{"id":"e","type":"user.updated","data":{"user":{"id":"a","name":"A"}}}"#:
            #"{"type":"user.updated","data":{"user":{"id":"a","displayName":"A"}}}"#,
        // Without an id nothing could take it back.
        #"{"id":"e","type":"message.sent","data":{"sender":{"id":"a"},"conversation":{"id":"c"},"message":{"text":"x"}}}"#:
            "",
        #"{"id":"e","type":"notification.triggered","data":{}}"#: "",
        #"{"id":"e","type":"message.read","data":{}}"#: "",
    ]

    private static func room(_ events: String...) -> String { #"{"events":[\#(events.joined(separator: ","))]}"# }

    static let matrix: Table = [
        room(
            #"{"event_id":"$1","room_id":"!r:x","sender":"@a:x","type":"m.room.create","state_key":"","content":{}}"#,
            #"{"event_id":"$2","room_id":"!r:x","sender":"@b:x","type":"m.room.member","state_key":"@b:x","content":{"membership":"join","displayname":"Bob"},"unsigned":{"prev_content":{"membership":"invite"}}}"#,
            #"{"event_id":"$3","room_id":"!r:x","sender":"@a:x","type":"m.room.name","state_key":"","content":{"name":"Lobby"}}"#
        ):
            several(
                #"{"type":"channel.created","data":{"channel":{"id":"!r:x","displayName":null,"fallbackName":null},"user":{"id":"@a:x"},"members":[{"id":"@a:x"}]}}"#,
                #"{"type":"member.joined","data":{"channel":{"id":"!r:x","fallbackName":null},"members":[{"id":"@b:x","displayName":"Bob"}],"newOnly":true}}"#,
                #"{"type":"channel.updated","data":{"channel":{"id":"!r:x","displayName":"Lobby"},"user":{"id":"@a:x"}}}"#
            ),
        room(
            #"{"event_id":"$1","room_id":"!r:x","sender":"@b:x","type":"m.room.member","state_key":"@b:x","content":{"membership":"join","displayname":"Bobby"},"unsigned":{"prev_content":{"membership":"join"}}}"#,
            #"{"event_id":"$2","room_id":"!r:x","sender":"@a:x","type":"m.room.member","state_key":"@b:x","content":{"membership":"ban"},"unsigned":{"prev_content":{"membership":"join"}}}"#,
            #"{"event_id":"$3","room_id":"!r:x","sender":"@a:x","type":"m.room.tombstone","state_key":"","content":{}}"#
        ):
            several(
                #"{"type":"user.updated","data":{"user":{"id":"@b:x","displayName":"Bobby"}}}"#,
                #"{"type":"member.left","data":{"channel":{"id":"!r:x","fallbackName":null},"user":{"id":"@a:x"},"members":[{"id":"@b:x"}]}}"#,
                #"{"type":"channel.deleted","data":{"channel":{"id":"!r:x","fallbackName":null},"user":{"id":"@a:x"}}}"#
            ),
        room(
            #"{"event_id":"$1","room_id":"!r:x","sender":"@b:x","type":"m.room.message","content":{"msgtype":"m.text","body":"hi","m.mentions":{"user_ids":["@a:x"],"room":true}}}"#,
            #"{"event_id":"$2","room_id":"!r:x","sender":"@b:x","type":"m.room.message","content":{"msgtype":"m.video","body":"v.mp4"}}"#,
            #"{"event_id":"$3","room_id":"!r:x","sender":"@b:x","type":"m.room.encrypted","content":{}}"#
        ):
            several(
                #"{"type":"message.sent","data":{"channel":{"id":"!r:x","fallbackName":null},"user":{"id":"@b:x"},"message":{"id":"$1","type":"text","text":"hi"},"mentions":["@a:x"],"mentionsAll":true}}"#,
                #"{"type":"message.sent","data":{"channel":{"id":"!r:x","fallbackName":null},"user":{"id":"@b:x"},"message":{"id":"$2","type":"video","text":"v.mp4"}}}"#,
                #"{"type":"message.sent","data":{"channel":{"id":"!r:x","fallbackName":null},"user":{"id":"@b:x"},"message":{"id":"$3","type":"encrypted","text":"","kind":"encrypted"}}}"#
            ),
        room(
            #"{"event_id":"$1","room_id":"!r:x","sender":"@a:x","type":"m.room.member","state_key":"@b:x","content":{"membership":"invite","displayname":"Bob","is_direct":true}}"#,
            ##"{"event_id":"$2","room_id":"!r:x","sender":"@a:x","type":"m.room.canonical_alias","state_key":"","content":{"alias":"#lobby:x"}}"##,
            #"{"event_id":"$3","room_id":"!r:x","sender":"@a:x","type":"m.room.name","state_key":"","content":{"name":" "}}"#,
            #"{"event_id":"$4","room_id":"!r:x","sender":"@a:x","type":"m.room.redaction","redacts":"$9","content":{}}"#,
            #"{"event_id":"$5","room_id":"!r:x","sender":"@a:x","type":"m.room.redaction","content":{"redacts":"$9"}}"#,
            #"{"event_id":"$6","room_id":"!r:x","sender":"@a:x","type":"m.room.canonical_alias","state_key":"","content":{}}"#
        ):
            several(
                #"{"type":"channel.invited","data":{"channel":{"id":"!r:x","fallbackName":null,"direct":true},"user":{"id":"@a:x"},"invited":[{"id":"@b:x","displayName":"Bob"}]}}"#,
                ##"{"type":"channel.updated","data":{"channel":{"id":"!r:x","fallbackName":"#lobby:x"},"user":{"id":"@a:x"}}}"##,
                #"{"type":"channel.updated","data":{"channel":{"id":"!r:x","displayName":null},"user":{"id":"@a:x"}}}"#,
                #"{"type":"message.deleted","data":{"channel":{"id":"!r:x","fallbackName":null},"user":{"id":"@a:x"},"message":{"id":"$9"}}}"#,
                #"{"type":"message.deleted","data":{"channel":{"id":"!r:x","fallbackName":null},"user":{"id":"@a:x"},"message":{"id":"$9"}}}"#,
                #"{"type":"channel.updated","data":{"channel":{"id":"!r:x","fallbackName":null},"user":{"id":"@a:x"}}}"#
            ),
        room(
            #"{"event_id":"$1","room_id":"!r:x","sender":"@b:x","type":"m.room.message","content":{"msgtype":"m.image","body":"By the sea","filename":"sea.jpg"}}"#,
            #"{"event_id":"$2","room_id":"!r:x","sender":"@b:x","type":"m.sticker","content":{"body":"Cat"}}"#,
            #"{"event_id":"$3","room_id":"!r:x","sender":"@b:x","type":"m.poll.start","content":{"m.text":"Lunch?"}}"#,
            #"{"event_id":"$4","room_id":"!r:x","sender":"@b:x","type":"m.call.invite","content":{"call_id":"1"}}"#,
            #"{"event_id":"$5","room_id":"!r:x","sender":"@b:x","type":"org.matrix.msc4075.rtc.notification","content":{}}"#,
            #"{"event_id":"$6","room_id":"!r:x","sender":"@b:x","type":"m.room.message","content":{"msgtype":"m.text","body":"> <@a:x> Lunch?\n> Now?\n\nYes","m.relates_to":{"m.in_reply_to":{"event_id":"$1"}}}}"#,
            #"{"event_id":"$7","room_id":"!r:x","sender":"@b:x","type":"m.room.message","content":{"msgtype":"m.text","body":"> quoted by hand"}}"#
        ):
            several(
                #"{"type":"message.sent","data":{"channel":{"id":"!r:x","fallbackName":null},"user":{"id":"@b:x"},"message":{"id":"$1","type":"image","text":"By the sea","caption":"By the sea"}}}"#,
                #"{"type":"message.sent","data":{"channel":{"id":"!r:x","fallbackName":null},"user":{"id":"@b:x"},"message":{"id":"$2","type":"sticker","text":"","kind":"sticker"}}}"#,
                #"{"type":"message.sent","data":{"channel":{"id":"!r:x","fallbackName":null},"user":{"id":"@b:x"},"message":{"id":"$3","type":"poll","text":"","kind":"poll"}}}"#,
                #"{"type":"message.sent","data":{"channel":{"id":"!r:x","fallbackName":null},"user":{"id":"@b:x"},"message":{"id":"$4","type":"call","text":"","kind":"call"}}}"#,
                #"{"type":"message.sent","data":{"channel":{"id":"!r:x","fallbackName":null},"user":{"id":"@b:x"},"message":{"id":"$5","type":"call","text":"","kind":"call"}}}"#,
                #"{"type":"message.sent","data":{"channel":{"id":"!r:x","fallbackName":null},"user":{"id":"@b:x"},"message":{"id":"$6","type":"text","text":"Yes"}}}"#,
                #"{"type":"message.sent","data":{"channel":{"id":"!r:x","fallbackName":null},"user":{"id":"@b:x"},"message":{"id":"$7","type":"text","text":"> quoted by hand"}}}"#
            ),
    ]

    static let rocket: Table = [
        #"{"token":"t","bot":0,"channel_id":"c","channel_name":"General","message_id":"m","timestamp":"2025-11-20T10:00:00Z","user_id":"u","user_name":"uu","alias":"U","text":"hi"}"#:
            #"{"type":"message.sent","data":{"channel":{"id":"c","displayName":"General"},"user":{"id":"u","displayName":"U"},"message":{"id":"m","type":"text","text":"hi"}}}"#,
        #"{"token":"t","channel_id":"d","channel_name":null,"message_id":"m","user_id":"u","text":"psst"}"#:
            #"{"type":"message.sent","data":{"channel":{"id":"d","fallbackName":null,"direct":true},"user":{"id":"u"},"message":{"id":"m","type":"text","text":"psst"}}}"#,
        #"{"token":"t","channel_id":"c","channel_name":"General","message_id":"m","user_id":"u","text":" "}"#: "",
        #"{"token":"t","channel_id":"c","message_id":"m","user_id":"u","text":"x","message":{"t":"e2e"},"channel_name":"c"}"#:
            #"{"type":"message.sent","data":{"channel":{"id":"c","fallbackName":null},"user":{"id":"u"},"message":{"id":"m","type":"encrypted","text":"","kind":"encrypted"}}}"#,
        #"{"token":"t","channel_id":"c","message_id":"m","user_id":"u","isEdited":true}"#: "",
    ]

    /// By what the URL says has happened.
    static let rocketRooms: KeyValuePairs<String, Table> = [
        "fileUploaded": [
            #"{"token":"t","user":{"_id":"u","username":"uu"},"room":{"_id":"c","name":"General"},"message":{"_id":"m","msg":"see","file":{"type":"image/png"}}}"#:
                #"{"type":"message.sent","data":{"channel":{"id":"c","displayName":"General"},"user":{"id":"u","displayName":"uu"},"message":{"id":"m","type":"image","text":"","caption":"see"}}}"#,
            #"{"token":"t","channel_id":"c","channel_name":"General","message_id":"m","user_id":"u","text":"","message":{"_id":"m","file":{"type":"application/pdf"},"attachments":[{"description":"The minutes :tada:"}]}}"#:
                #"{"type":"message.sent","data":{"channel":{"id":"c","displayName":"General"},"user":{"id":"u"},"message":{"id":"m","type":"file","text":"","caption":"The minutes 🎉","kind":"file"}}}"#,
        ],
        "roomCreated": [
            #"{"token":"t","owner":{"_id":"u","name":"U"},"room":{"_id":"c","name":"General"}}"#:
                #"{"type":"channel.created","data":{"channel":{"id":"c","displayName":"General"},"user":{"id":"u","displayName":"U"},"members":[{"id":"u","displayName":"U"}]}}"#,
            #"{"token":"t","channel_id":"c","channel_name":"General","user_id":"u","user_name":"uu"}"#:
                #"{"type":"channel.created","data":{"channel":{"id":"c","displayName":"General"},"user":{"id":"u","displayName":"uu"},"members":[{"id":"u","displayName":"uu"}]}}"#,
        ],
        "roomJoined": [
            #"{"token":"t","user":{"_id":"u"},"room":{"_id":"c"}}"#:
                #"{"type":"member.joined","data":{"channel":{"id":"c","fallbackName":null},"members":[{"id":"u"}],"newOnly":true}}"#,
            // What versions since 7.7 send of rooms.
            #"{"token":"t","bot":false}"#: "",
        ],
        "roomLeft": [
            #"{"token":"t","user":{"_id":"u"},"room":{"_id":"c"}}"#:
                #"{"type":"member.left","data":{"channel":{"id":"c","fallbackName":null},"members":[{"id":"u"}]}}"#
        ],
        "roomArchived": [
            #"{"token":"t","room":{"_id":"c"}}"#:
                #"{"type":"channel.deleted","data":{"channel":{"id":"c","fallbackName":null}}}"#
        ],
        "userCreated": [
            #"{"token":"t","user":{"_id":"u","username":"uu"}}"#:
                #"{"type":"user.updated","data":{"user":{"id":"u","displayName":"uu"}}}"#,
            #"{"token":"t","user_id":"u","user_name":"uu"}"#:
                #"{"type":"user.updated","data":{"user":{"id":"u","displayName":"uu"}}}"#,
        ],
    ]

    static let mattermost: Table = [
        #"{"token":"t","channel_id":"c","timestamp":1763632800000,"user_id":"u","post_id":"p","text":"","file_ids":"f1,f2"}"#:
            #"{"type":"message.sent","data":{"channel":{"id":"c","fallbackName":null},"user":{"id":"u"},"message":{"id":"p","type":"file","text":""}}}"#,
        #"{"token":"t"}"#: "",
    ]

    /// Where it depends on settings or headers.
    static let special: [Row] = [
        Row(
            dialect: .stream,
            body:
                #"{"type":"member.added","created_at":1763632800000000000,"cid":"messaging:general","member":{"user_id":"carol","user":{"id":"carol","name":"Carol"}},"user":{"id":"carol","name":"Carol"},"members":[{"user_id":"alice"},{"user_id":"carol"}]}"#,
            events:
                #"{"type":"member.joined","data":{"channel":{"id":"messaging:general"},"members":[{"id":"carol","displayName":"Carol"}],"existingMembers":[{"id":"alice"}],"newOnly":true}}"#,
            headers: [("X-Webhook-Id", "w-1")]
        ),
        Row(
            dialect: .stream,
            body:
                #"{"type":"message.new","cid":"messaging:general","channel_custom":{"name":"General"},"message":{"id":"m","text":"hi","user":{"id":"bob","custom":{"name":"Bob"},"language":"th","role":"admin"},"mentioned_users":[{"id":"carol"},"dave"],"mentioned_channel":true},"channel":{"members":[{"user_id":"bob"},{"user":{"id":"dave"}}]}}"#,
            events:
                #"{"type":"message.sent","data":{"channel":{"id":"general","displayName":"General"},"user":{"id":"bob","displayName":"Bob","locale":"th","roles":["admin"]},"members":[{"id":"bob"},{"id":"dave"}],"message":{"id":"m","type":"text","text":"hi"},"mentions":["carol","dave"],"mentionsAll":true}}"#,
            settings: ["channelId": "id"]
        ),
        Row(
            dialect: .sendbird,
            body:
                #"{"category":"open_channel:enter","entered_at":1,"user":{"user_id":"a"},"channel":{"channel_url":"o"}}"#,
            events:
                #"{"type":"member.joined","data":{"channel":{"id":"o","fallbackName":null},"members":[{"id":"a"}],"newOnly":true}}"#,
            settings: ["openChannelPresence": true]
        ),
        Row(
            dialect: .sendbird,
            body:
                #"{"category":"group_channel:message_send","type":"ADMM","payload":{"message_id":1,"message":"We close at six"},"channel":{"channel_url":"g","name":"General"}}"#,
            events:
                #"{"type":"notification.direct","data":{"data":{"channelId":"g"},"to":{"channelId":"g"},"title":"General","body":"We close at six","module":"chat"}}"#,
            settings: ["adminMessages": true]
        ),
        Row(
            dialect: .sendbird,
            body:
                #"{"category":"group_channel:message_send","type":"ADMM","sender":{"user_id":"a"},"payload":{"message_id":1,"message":"Hi"},"channel":{"channel_url":"g"}}"#,
            events:
                #"{"type":"message.sent","data":{"channel":{"id":"g","fallbackName":null},"user":{"id":"a"},"message":{"id":"1","type":"text","text":"Hi"}}}"#,
            settings: ["adminMessages": true]
        ),
        Row(
            dialect: .sendbird,
            body: KnownAnswerTests.sendbirdBody,
            settings: ["ignoreSenders": ["alice"]]
        ),
        Row(
            dialect: .matrix,
            body: room(
                #"{"event_id":"$1","room_id":"!r:x","sender":"@b:x","type":"m.room.message","content":{"msgtype":"m.notice","body":"x"}}"#,
                #"{"event_id":"$2","room_id":"!r:x","sender":"@b:x","type":"m.room.message","content":{"msgtype":"m.text","body":"x","m.relates_to":{"rel_type":"m.replace"}}}"#,
                #"{"event_id":"$3","room_id":"!r:x","sender":"@a:x","type":"m.room.member","state_key":"@b:x","content":{"membership":"knock"}}"#,
                #"{"event_id":"$4","room_id":"!r:x","sender":"@b:x","type":"m.room.member","state_key":"@b:x","content":{"membership":"leave"},"unsigned":{"prev_content":{"membership":"invite"}}}"#,
                #"{"event_id":"$5","room_id":"!r:x","sender":"@b:x","type":"m.reaction","content":{}}"#,
                #"{"event_id":"$6","room_id":"!r:x","sender":"@b:x","type":"m.room.encrypted","content":{}}"#,
                "7"
            ),
            settings: ["ignoreEncrypted": true]
        ),
        Row(
            dialect: .rocketchat,
            body: #"{"token":"t","channel_id":"c","message_id":"m","user_id":"u","bot":{"i":"x"}}"#,
            settings: ["ignoreBots": true]
        ),
        Row(
            dialect: .mattermost,
            body:
                "token=t&team_id=x&channel_id=c&channel_name=town-square&timestamp=1763632800&user_id=u&user_name=bob&post_id=p&text=hi+there%21&file_ids=",
            events:
                #"{"type":"message.sent","data":{"channel":{"id":"c","displayName":"town-square"},"user":{"id":"u","displayName":"bob"},"message":{"id":"p","type":"text","text":"hi there!"}}}"#,
            headers: [("content-type", "application/x-www-form-urlencoded")]
        ),
    ]

    private static func cloud(_ type: String, _ data: String) -> String {
        #"[{"specversion":"1.0","type":"com.twilio.conversations.\#(type)","source":"AB1","id":"NO1","data":\#(data)}]"#
    }

    static let twilio: Table = [
        cloud("conversation.added", #"{"ConversationSid":"CH1","FriendlyName":"General"}"#):
            #"{"type":"channel.created","data":{"channel":{"id":"CH1","displayName":"General"}}}"#,
        cloud("participant.added", #"{"ConversationSid":"CH1","Identity":"bob"}"#):
            #"{"type":"member.joined","data":{"channel":{"id":"CH1","fallbackName":null},"members":[{"id":"bob"}],"newOnly":true}}"#,
        cloud("participant.removed", #"{"ConversationSid":"CH1","Identity":"bob"}"#):
            #"{"type":"member.left","data":{"channel":{"id":"CH1","fallbackName":null},"members":[{"id":"bob"}]}}"#,
        cloud(
            "message.added",
            #"{"ConversationSid":"CH1","MessageSid":"IM1","Author":"bob","MessageBody":"hi","Media":[{"ContentType":"image/png"}]}"#
        ):
            #"{"type":"message.sent","data":{"channel":{"id":"CH1","fallbackName":null},"user":{"id":"bob"},"message":{"id":"IM1","type":"image","text":"","caption":"hi"}}}"#,
        cloud("message.added", #"{"ConversationSid":"CH1","MessageSid":"IM1","Author":"+4912","MessageBody":"hi"}"#):
            #"{"type":"message.sent","data":{"channel":{"id":"CH1","fallbackName":null},"user":{"id":"+4912"},"senderIsMember":false,"message":{"id":"IM1","type":"text","text":"hi"}}}"#,
        cloud("conversation.added", #"{"ConversationSid":"CH1","FriendlyName":null}"#):
            #"{"type":"channel.created","data":{"channel":{"id":"CH1","displayName":null}}}"#,
        cloud("message.removed", #"{"ConversationSid":"CH1","MessageSid":"IM1"}"#):
            #"{"type":"message.deleted","data":{"channel":{"id":"CH1"},"message":{"id":"IM1"}}}"#,
        cloud("participant.added", #"{"ConversationSid":"CH1"}"#): "",
        cloud("message.added", "{}"): "",
        cloud("participant.updated", "{}"): "",
    ]

    /// What was named when nobody knows, and where nobody has to be a member.
    static let amityTimes: Table = [
        #"{"event":"channel.didJoin","data":{"channel":[{"channelId":"c","displayName":"General"}],"users":[{"userId":"dave","displayName":"Dave"}]}}"#:
            #"{"type":"member.joined","data":{"channel":{"id":"c","displayName":"General"},"members":[{"id":"dave","displayName":"Dave"}],"newOnly":true}}"#,
        #"{"event":"channel.didBan","data":{"channel":[{"channelId":"c","displayName":"General"}],"users":[{"userId":"dave","displayName":"Dave","updatedAt":"2025-11-20T09:00:00Z"},{"userId":"eve","displayName":"Eve","isDeleted":true,"updatedAt":"2025-11-20T09:00:00Z"},{"userId":"bob","displayName":"Bob"}],"userIds":["dave","eve"],"actorId":"bob"}}"#:
            #"{"type":"member.left","data":{"channel":{"id":"c","displayName":"General"},"user":{"id":"bob","displayName":"Bob"},"members":[{"id":"dave","displayName":"Dave"},{"id":"eve","displayName":"Eve"}]}}"#,
        #"{"event":"channel.didAddUsers","data":{"channel":[{"channelId":"c","type":"broadcast"}],"userIds":["dave"],"adderId":"bob"}}"#:
            #"{"type":"member.joined","data":{"channel":{"id":"c","fallbackName":null},"user":{"id":"bob"},"members":[{"id":"dave"}],"newOnly":true}}"#,
        #"{"event":"message.didCreate","data":{"messages":[{"messageId":"m-1","channelId":"c","userId":"bob","type":"text","data":{"text":"Hi"}},{"messageId":"m-2","channelId":"d","userId":"bob","type":"text","data":{"text":"Hi"}}],"channels":[{"channelId":"c","type":"live"},{"channelId":"d","type":"community"}]}}"#:
            several(
                #"{"type":"message.sent","data":{"channel":{"id":"c"},"user":{"id":"bob"},"senderIsMember":false,"message":{"id":"m-1","type":"text","text":"Hi"}}}"#,
                #"{"type":"message.sent","data":{"channel":{"id":"d"},"user":{"id":"bob"},"message":{"id":"m-2","type":"text","text":"Hi"}}}"#
            ),
    ]
}
