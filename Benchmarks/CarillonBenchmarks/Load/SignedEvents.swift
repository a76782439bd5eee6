import CarillonCore
import NIOCore

/// Makes `message.sent` events of about 600 bytes, each with an id of its own and signed by Standard Webhooks.
///
/// They go to one channel after the other, and when the channels come round again another member sends.
struct SignedEvents: LoadSource {
    /// What goes into the events besides ids.
    enum Style: Sendable {
        /// The names and roles that a chat backend knows, as in the API's example: they are facts for the directory.
        case named
        /// Ids only.
        case bare
    }

    private let target: TestNetwork
    private let shape: DirectoryLines
    private let style: Style
    private let senders: Int
    private let perRequest: Int
    private let run: String
    private let clock = WallClock.system
    /// How many were made: the number of the last one.
    private(set) var count = 0
    private var second: Int64 = 0
    private var secondText = ""
    /// What all of them say.
    private(set) var text = ""

    /// Events for a network, of so many members of each channel; all of them, unless given.
    ///
    /// Their ids begin with `run`: events of two runs with equal names would be duplicates.
    init(
        to target: TestNetwork,
        in shape: DirectoryLines,
        style: Style = .named,
        senders: Int? = nil,
        perRequest: Int = 1,
        run: String
    ) {
        self.target = target
        self.shape = shape
        self.style = style
        self.senders = min(senders ?? shape.membersPerChannel, shape.membersPerChannel)
        self.perRequest = perRequest
        self.run = run
        secondText = "\(clock.now())"
        let rest = 600 - json(number: 999_999, text: "").utf8.count
        let words = "All of this is a message that somebody wrote to the others in the channel. "
        text = String(String(repeating: words, count: 8).prefix(max(0, rest)))
    }

    /// The next event as a request for ``HTTPClient``.
    mutating func next() -> HTTPRequest {
        let (id, body, signature) = signedBody()
        let headers = [
            ("content-type", "application/json"), ("webhook-id", id), ("webhook-timestamp", String(second)),
            ("webhook-signature", signature),
        ]
        return HTTPRequest(method: "POST", path: target.path + "/events", headers: headers, body: body)
    }

    /// Appends the next event as it is sent.
    mutating func write(to buffer: inout ByteBuffer) {
        let (id, body, signature) = signedBody()
        buffer.writeString("POST \(target.path)/events HTTP/1.1\r\n")
        buffer.writeString("host: 127.0.0.1\r\ncontent-type: application/json\r\n")
        buffer.writeString("webhook-id: \(id)\r\nwebhook-timestamp: \(second)\r\nwebhook-signature: \(signature)\r\n")
        buffer.writeString("content-length: \(body.count)\r\n\r\n")
        buffer.writeBytes(body)
    }

    /// In which channel an event happens, by its number, and which user causes it.
    func place(of number: Int) -> (channel: Int, sender: Int) {
        let channel = number % shape.channelCount
        return (channel, shape.member(number / shape.channelCount % senders, ofChannel: channel))
    }

    private mutating func signedBody() -> (id: String, body: [UInt8], signature: String) {
        let now = clock.now()
        if now.milliseconds / 1000 != second {
            second = now.milliseconds / 1000
            secondText = "\(now)"
        }
        let body = Array(nextBody().utf8)
        let id = "\(run)-\(count)"
        let signature = WebhookSignature.sign(id: id, timestamp: second, body: body, secrets: [target.secret])
        return (id, body, signature)
    }

    private mutating func nextBody() -> String {
        count += 1
        let first = json(number: count, text: text)
        guard perRequest > 1 else { return first }
        var body = "[" + first
        for _ in 1..<perRequest {
            count += 1
            body += "," + json(number: count, text: text)
        }
        return body + "]"
    }

    private func json(number: Int, text: String) -> String {
        let (channel, sender) = place(of: number)
        let channelID = DirectoryLines.channelID(channel)
        let userID = DirectoryLines.userID(sender)
        let names =
            switch style {
            case .named:
                (
                    channel: #","displayName":"Channel \#(channel)""#,
                    user: #","displayName":"User \#(sender)","roles":["member"]"#
                )
            case .bare: (channel: "", user: "")
            }
        return #"{"id":"\#(run)-\#(number)","type":"message.sent","timestamp":"\#(secondText)","#
            + #""data":{"channel":{"id":"\#(channelID)"\#(names.channel)},"user":{"id":"\#(userID)"\#(names.user)},"#
            + #""message":{"id":"m-\#(number)","type":"text","text":"\#(text)"},"mentions":[]}}"#
    }
}
