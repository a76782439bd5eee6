import CarillonCore
import Crypto
import NIOCore

/// Makes webhooks of about 600 bytes as other chat backends post them, each of a message of its own, signed in hexadecimal digits.
///
/// They go round channels and members as ``SignedEvents`` do.
struct ForeignMessages: LoadSource {
    /// Whose webhooks they are.
    enum Sender: String, Sendable {
        /// Amity's.
        case amity
        /// Stream's, with members in the body.
        case stream

        /// The header of the signature.
        fileprivate var header: String {
            switch self {
            case .amity: "x-amity-signature"
            case .stream: "x-signature"
            }
        }
    }

    /// What all of them are signed with.
    private static let secret = "what-the-other-backend-signs-with"

    private let sender: Sender
    private let path: String
    private let shape: DirectoryLines
    private let run: String
    private let key = SymmetricKey(data: Array(secret.utf8))
    private let timestamp = "\(WallClock.system.now())"
    private let text: String
    /// How many were made: the number of the last one.
    private(set) var count = 0

    /// Webhooks for a network that takes them. Their ids begin with `run`: those of two runs with equal names are duplicates.
    init(of sender: Sender, to network: TestNetwork, in shape: DirectoryLines, run: String) {
        self.sender = sender
        path = "\(network.path)/events/\(sender.rawValue)"
        self.shape = shape
        self.run = run
        let words = "All of this is a message that somebody wrote to the others in the channel. "
        text = String(String(repeating: words, count: 8).prefix(sender == .amity ? 260 : 200))
    }

    /// Has a network take such webhooks.
    static func enable(_ sender: Sender, of network: TestNetwork, in service: ServiceUnderTest) async throws {
        var document: JSONObject = ["enabled": true, "secrets": [.string(secret)]]
        if sender == .stream { document["channelId"] = "id" }
        let path = "\(network.path)/dialects/\(sender.rawValue)"
        _ = try await service.operator.send(.json("PUT", path, JSONValue.object(document).serialized)).expecting(200)
    }

    /// Appends the next one as it is sent.
    mutating func write(to buffer: inout ByteBuffer) {
        count += 1
        let body = json(number: count)
        let signature = HMAC<SHA256>.authenticationCode(for: Array(body.utf8), using: key).hexadecimal
        buffer.writeString("POST \(path) HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n")
        buffer.writeString("\(sender.header): \(signature)\r\ncontent-length: \(body.utf8.count)\r\n\r\n")
        buffer.writeString(body)
    }

    private func json(number: Int) -> String {
        let channel = number % shape.channelCount
        let position = number / shape.channelCount % shape.membersPerChannel
        let author = shape.member(position, ofChannel: channel)
        let channelID = DirectoryLines.channelID(channel)
        let userID = DirectoryLines.userID(author)
        switch sender {
        case .amity:
            return #"{"event":"message.didCreate","data":{"messages":[{"messageId":"\#(run)-\#(number)","#
                + #""channelId":"\#(channelID)","userId":"\#(userID)","type":"text","data":{"text":"\#(text)"},"#
                + #""createdAt":"\#(timestamp)","updatedAt":"\#(timestamp)","childrenNumber":0,"isDeleted":false}],"#
                + #""users":[{"userId":"\#(userID)","displayName":"User \#(author)","roles":["member"]}]}}"#
        case .stream:
            let user = #"{"id":"\#(userID)","name":"User \#(author)","role":"user"}"#
            return #"{"type":"message.new","created_at":"\#(timestamp)","cid":"messaging:\#(channelID)","#
                + #""channel_type":"messaging","channel_id":"\#(channelID)","message":{"id":"\#(run)-\#(number)","#
                + #""text":"\#(text)","type":"regular","user":\#(user),"mentioned_users":[]},"user":\#(user),"#
                + #""members":[{"user_id":"\#(userID)"}],"channel":{"name":"Channel \#(channel)"}}"#
        }
    }
}
