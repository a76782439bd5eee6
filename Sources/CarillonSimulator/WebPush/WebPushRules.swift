import NIOHPACK

/// What a push service demands of a message's headers and length (RFC 8030 section 5, RFC 8291 section 4).
enum WebPushRules {
    private static let maximumBytes = 4096
    private static let maximumTopicLength = 32
    private static let urgencies = ["very-low", "low", "normal", "high"]

    /// Throws what is wrong, with a text for people.
    static func check(_ request: Request) throws(WebPushProblem) {
        if request.method != "POST" { throw WebPushProblem(.badRequest, "messages are posted") }
        let lifetimes = request.headers["ttl"]
        guard lifetimes.count == 1, UInt32(lifetimes[0]) != nil else {
            throw WebPushProblem(.badRequest, "TTL must be a number of seconds")
        }
        let urgency = request.headers["urgency"]
        guard urgency.isEmpty || urgency.count == 1 && urgencies.contains(urgency[0]) else {
            throw WebPushProblem(.badRequest, "Urgency must be one of \(urgencies)")
        }
        let topics = request.headers["topic"]
        guard topics.allSatisfy({ (1...maximumTopicLength).contains($0.utf8.count) && Base64URL.decode($0) != nil }),
            topics.count <= 1
        else { throw WebPushProblem(.badRequest, "Topic must be 1 to 32 characters of base64url") }
        if request.bodyLength > maximumBytes { throw WebPushProblem(.tooLarge, "at most \(maximumBytes) bytes") }
        guard request.headers.first(name: "content-encoding") == "aes128gcm" else {
            throw WebPushProblem(.badRequest, "Content-Encoding must be aes128gcm")
        }
    }
}

/// A refusal with its explanation.
struct WebPushProblem: Error {
    let refusal: WebPushRefusal
    let text: String

    init(_ refusal: WebPushRefusal, _ text: String) {
        self.refusal = refusal
        self.text = text
    }
}
