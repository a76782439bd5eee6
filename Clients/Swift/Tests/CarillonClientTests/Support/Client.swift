import Foundation

@testable import CarillonClient

/// Tokens in the order in which an app's back end answers them; the last one from then on.
actor Tokens {
    private var tokens: [String]
    private(set) var count = 0

    init(_ tokens: String...) {
        self.tokens = tokens
    }

    func next() -> String {
        count += 1
        return tokens.count > 1 ? tokens.removeFirst() : tokens[0]
    }
}

extension CarillonClient {
    /// A client of the network `acme` that waits by a clock of the test's.
    static func test(
        _ transport: any Transport,
        base: String = "https://push.example.org",
        network: String = "acme",
        appKey: String? = nil,
        policy: RetryPolicy = RetryPolicy(),
        time: ManualTime = ManualTime(),
        token: @escaping @Sendable () async throws -> String = { "jwt" }
    ) throws -> CarillonClient {
        guard let url = URL(string: base) else { throw URLError(.badURL) }
        return CarillonClient(
            requester: Requester(
                base: ServiceURL(url, network: network),
                transport: transport,
                userTokens: TokenStore(fetch: token),
                appTokens: appKey.map { key in TokenStore { key } },
                policy: policy,
                timing: time.timing
            )
        )
    }
}

/// Documents as the service writes them.
enum Documents {
    static let device = """
        {"id":"d-1","userId":"alice","provider":"apns","appId":"com.acme.chat","environment":"production","token":"…e0f1",\
        "locale":"th-TH","broadcasts":true,"state":"active","error":null,"registeredAt":"2026-11-20T10:00:00.000Z",\
        "lastSeenAt":"2026-11-20T10:00:00.250Z"}
        """
    static let channel = #"{"enabled":true,"mentionsOnly":false,"mutedUntil":null,"updatedAt":null}"#
    static let settings = """
        {"enabled":true,"modules":{"chat":{"enabled":true,"roles":{"only":["moderator"]}},"social":{"enabled":false,"roles":null},\
        "video":{"enabled":true,"roles":{"except":["bot"]}},"later":{"enabled":true,"roles":null}},"mutedUntil":null,\
        "quietHours":{"from":"22:00","to":"07:05","timeZone":"Asia/Bangkok"},"updatedAt":"2026-11-20T10:00:00.000Z","new":1}
        """

    static func problem(_ name: String, _ status: Int, more: String = "") -> String {
        #"{"type":"/problems/\#(name)","title":"No","status":\#(status),"detail":"not now"\#(more)}"#
    }
}
