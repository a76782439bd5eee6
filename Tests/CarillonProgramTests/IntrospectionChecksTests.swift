import CarillonCore
import Testing

@testable import carillon

/// What doctor says of the servers that know whose foreign tokens are.
@Suite struct IntrospectionChecksTests {
    /// Answers for each network as it was told.
    private struct Server: UserTokenAsker {
        var answers: [NetworkID: UserTokenAnswer]

        func ask(
            _ introspection: UserTokenIntrospection,
            about token: Secret,
            in network: NetworkID
        ) async -> UserTokenAnswer {
            token.reveal { $0.hasPrefix("carillon-doctor-") } ? answers[network] ?? .nobody : .failed(reason: "token")
        }
    }

    private func network(_ id: String, asks: Bool = true) -> Network {
        var network = Network(id: NetworkID(trusted: id), createdAt: Timestamp(milliseconds: 0))
        if asks { network.introspection = UserTokenIntrospection(url: "https://chat.example", userIDPointer: "/id") }
        return network
    }

    private func words(_ networks: [Network], _ answers: [NetworkID: UserTokenAnswer] = [:]) async -> [String] {
        await IntrospectionChecks(Server(answers: answers)).findings(of: networks)
            .map { "\($0.verdict.rawValue) \($0.subject): \($0.detail)" }
    }

    @Test func `a server that does not answer, or believes anybody, is named`() async {
        let networks = ["acme", "other", "third"].map { network($0) }
        let answers: [NetworkID: UserTokenAnswer] = [
            NetworkID(trusted: "acme"): .failed(reason: "http 502"),
            NetworkID(trusted: "other"): .user(UserID(trusted: "alice")),
        ]
        #expect(
            await words(networks, answers) == [
                "warn token introspection acme: no answer (http 502), so that users with foreign tokens are turned away",
                "FAIL token introspection other: the server says that a made-up token is a user's, so that anybody is believed: mend it",
                "ok token introspection: 1 of 3 servers know nobody of a made-up token",
            ]
        )
    }

    @Test func `nobody's server is no trouble, and of very many the first are asked`() async {
        #expect(await words([]) == ["ok token introspection: no network has any"])
        #expect(await words([network("acme", asks: false)]) == ["ok token introspection: no network has any"])
        let many = (0...IntrospectionChecks.mostNetworks).map { network("n\($0)") }
        #expect(
            await words(many) == [
                "ok token introspection: 100 of 100 servers know nobody of a made-up token; only the first were asked"
            ]
        )
    }
}
