import CarillonCore
import CarillonDialects
import Crypto
import Foundation

/// What senders prove their posts by, and what networks know of it.
enum Prover {
    /// The sender's secret, which is a token for some.
    static let secret = "t"
    private static let address = "https://push.example.com"

    /// The document of a network whose sender has the last of these secrets.
    static func document(_ name: DialectName, secrets: [String] = ["the next one", secret]) -> DialectDocument {
        var document = DialectDocument(name, basic: ("carillon", "p:w"))
        document.secrets = secrets.map { .init(value: Secret($0), setAt: Scene.now) }
        if name == .cloudevents { document.settings["publicUrl"] = .string(address) }
        return document
    }

    /// A post as its sender makes it, with the proof that it gives; some give it in the body.
    static func request(_ post: Telling.Post, _ name: DialectName, at now: Timestamp) -> DialectRequest {
        let query = post.kind.map { [(name: "event", value: $0)] } ?? []
        let body = Array(post.body.utf8)
        let basic = ("authorization", "Basic \(base64("carillon:p:w"))")
        switch name {
        case .amity:
            let code = HMAC<SHA256>.authenticationCode(for: body, using: SymmetricKey(data: Data(secret.utf8)))
            return DialectRequest(headers: [("x-amity-signature", Data(code).base64EncodedString())], body: body)
        case .sendbird:
            return DialectRequest(headers: [("x-sendbird-signature", hexHMAC(post.body, key: secret))], body: body)
        case .stream:
            return DialectRequest(headers: [("x-signature", hexHMAC(post.body, key: secret))], body: body)
        case .talkjs:
            let signature = hexHMAC("\(now.milliseconds).\(post.body)", key: secret).uppercased()
            return DialectRequest(
                headers: [("x-talkjs-signature", signature), ("x-talkjs-timestamp", "\(now.milliseconds)")],
                body: body
            )
        case .cloudevents where post.body.contains("com.twilio"):
            let digest = hexSHA256(post.body)
            let target = "/v1/networks/acme/events/cloudevents?bodySHA256=\(digest)"
            let code = HMAC<Insecure.SHA1>.authenticationCode(
                for: Data((address + target).utf8),
                using: SymmetricKey(data: Data(secret.utf8))
            )
            return DialectRequest(
                target: target,
                query: [("bodySHA256", digest)],
                headers: [("x-twilio-signature", Data(code).base64EncodedString())],
                body: body
            )
        case .cloudevents:
            return DialectRequest(headers: [basic, ("content-type", "application/cloudevents+json")], body: body)
        case .cometchat:
            return DialectRequest(headers: [basic], body: body)
        case .matrix:
            return DialectRequest(headers: [("authorization", "Bearer \(secret)")], body: body)
        case .mattermost:
            return DialectRequest(headers: [("content-type", "application/x-www-form-urlencoded")], body: body)
        case .rocketchat:
            return DialectRequest(query: query, body: body)
        }
    }
}
