import Testing

@testable import CarillonProviders

@Suite struct FCMServerTests {
    @Test(arguments: [
        "", "fcm.googleapis.com", "http://fcm.googleapis.com", "http://128.0.0.1", "http://[::2]:80",
        "https://127.0.0.1:9443/fcm", "https://h/?a", "ftp://h/",
        "https://user@h/", "https://h:22",
    ])
    func `takes https URLs without a path only`(url: String) {
        #expect(FCMServer(url: url) == nil)
    }

    @Test(arguments: ["http://127.0.0.1:9080", "http://[::1]:9080", "http://localhost:9080"])
    func `does without TLS on the machine itself`(url: String) throws {
        let server = try #require(FCMServer(url: url))
        #expect(server.permits(tokenURI: url + "/token"))
        #expect(server.sendURL(projectID: "p") == url + "/v1/projects/p/messages:send")
    }

    @Test(arguments: ["https://fcm.googleapis.com", "https://FCM.googleapis.com/", "https://fcm.googleapis.com:443/"])
    func `knows Google's server in every spelling`(url: String) {
        #expect(FCMServer(url: url) == .google)
    }

    @Test(arguments: [
        "https://oauth2.googleapis.com/token2", "http://oauth2.googleapis.com/token", "https://evil.example/token",
        "https://oauth2.googleapis.com.evil.example/token", "https://oauth2.googleapis.com@evil.example/token",
        "https://fcm.googleapis.com/token", "https://169.254.169.254/token", "https://localhost/token", "",
    ])
    func `beside Google's server only Google's token endpoint is asked`(uri: String) {
        #expect(!FCMServer.google.permits(tokenURI: uri))
        #expect(FCMServer.google.permits(tokenURI: "https://oauth2.googleapis.com/token"))
        #expect(FCMServer.google.permits(tokenURI: "https://accounts.google.com/o/oauth2/token"))
    }

    @Test func `beside the operator's own server that one may be asked, and Google's`() throws {
        let server = try #require(FCMServer(url: "https://simulator.example:9443"))
        #expect(server.permits(tokenURI: "https://simulator.example:9443/token"))
        #expect(server.permits(tokenURI: "https://SIMULATOR.example:9443/oauth/token?x=1"))
        #expect(server.permits(tokenURI: "https://oauth2.googleapis.com/token"))
        for uri in [
            "http://simulator.example:9443/token", "https://simulator.example/token",
            "https://simulator.example:9444/token", "https://simulator.example:9443@evil.example/",
            "https://evil.example/simulator.example:9443",
        ] {
            #expect(!server.permits(tokenURI: uri), "\(uri)")
        }
    }

    @Test func `sends to the project's path`() throws {
        #expect(
            try #require(FCMServer(url: "https://127.0.0.1:9443/")).sendURL(projectID: "acme-chat")
                == "https://127.0.0.1:9443/v1/projects/acme-chat/messages:send"
        )
    }
}
