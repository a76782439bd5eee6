import CarillonCore
import CarillonStore
import Testing

@testable import carillon

/// What doctor says of endpoints.
@Suite struct EndpointChecksTests {
    private func condition(
        _ role: EndpointRole = .observe(.init()),
        isReadable: Bool = true,
        isEnabled: Bool = true,
        pause: String? = nil,
        error: String? = nil,
        backlog: Int = 0
    ) -> EndpointCondition {
        let settings = EndpointSettings(
            url: "https://bot.acme.example",
            role: role,
            events: EndpointEvents(trusted: ["*"])
        )
        var endpoint = Endpoint(
            id: EndpointID(trusted: "e-1"),
            settings: settings,
            createdAt: Timestamp(milliseconds: 0)
        )
        if !isEnabled { endpoint.set(.disabled, reason: "http 410", at: Timestamp(milliseconds: 0)) }
        endpoint.lastError = error
        return EndpointCondition(
            network: NetworkID(trusted: "acme"),
            endpoint: endpoint,
            isReadable: isReadable,
            pause: pause,
            backlog: backlog
        )
    }

    private func words(_ condition: EndpointCondition) -> String {
        EndpointChecks.findings(of: [condition]).map { "\($0.verdict.rawValue) \($0.subject): \($0.detail)" }
            .joined(separator: "\n")
    }

    @Test func `what is well is one line, and so is none`() {
        #expect(EndpointChecks.findings(of: []) == [.ok("endpoints", "no network has any")])
        #expect(words(condition()) == "ok endpoints: 1 of 1 are well")
        #expect(words(condition(error: "http 503")) == "ok endpoints: 1 of 1 are well", "it is tried again")
    }

    @Test func `each trouble is named with what to do about it`() {
        let cases: [(EndpointCondition, String)] = [
            (condition(isReadable: false), "FAIL endpoint acme/e-1: its secret cannot be read"),
            (condition(isEnabled: false), "(http 410): PATCH"),
            (condition(pause: "ten failures"), "warn endpoint acme/e-1: the circuit is open (ten failures)"),
            (
                condition(.intercept(.init()), error: "timeout"),
                "warn endpoint acme/e-1: the last question failed (timeout)"
            ),
            (condition(backlog: 700), "700 messages wait for it"),
            (condition(backlog: EndpointSurvey.mostCounted), "1000 or more messages wait for it"),
        ]
        for (condition, expected) in cases {
            #expect(words(condition).contains(expected), "\(words(condition))")
            #expect(words(condition).hasSuffix("ok endpoints: 0 of 1 are well"))
        }
    }
}
