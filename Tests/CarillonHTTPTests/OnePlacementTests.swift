import CarillonCore
import CarillonTesting
import HTTPTypes
import Testing

@testable import CarillonEdge

/// Placements where there is one, which has all networks.
@Suite(.acme) struct OnePlacementTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }

    @Test func `a network is in the only placement already, and there is no other to move to`() async throws {
        let path = network.path("move")
        func move(_ target: String, _ path: String) async throws -> Answer {
            try await api.call(.post, path, #"{"to":"\#(target)"}"#, as: TestAPI.operatorToken)
        }
        let here = try await move("default", path)
        #expect(here.status == 200, "\(here.text)")
        #expect(here.string("from") == "default" && here.string("to") == "default" && here.string("step") == "done")
        let nowhere = try await move("p1", path)
        #expect(nowhere.refusal == "400 invalid-move" && nowhere.pointers == ["/to"])
        #expect(try await move("default", "/v1/networks/other/move").refusal == "404 not-found")
        for method in [HTTPRequest.Method.get, .delete] {
            #expect(try await api.call(method, path, as: TestAPI.operatorToken).refusal == "404 not-found")
        }
    }

    @Test func `the only placement takes new networks, and nothing else can be said of it`() async throws {
        func state(_ state: String, of name: String = "default") async throws -> Answer {
            try await api.call(
                .patch,
                "/v1/placements/\(name)",
                #"{"state":"\#(state)"}"#,
                as: TestAPI.operatorToken,
                type: "application/merge-patch+json"
            )
        }
        let open = try await state("open")
        #expect(open.status == 200, "\(open.text)")
        #expect(open.string("name") == "default" && open.string("state") == "open" && open["networks"] == 1)
        for other in ["full", "leaving"] { #expect(try await state(other).refusal == "409 only-placement") }
        for name in ["p1", "P1"] { #expect(try await state("open", of: name).refusal == "404 not-found") }
    }

    @Test(arguments: [Problem.networkMoving, .wrongMasterKey])
    func `that nothing was changed is said once`(problem: Problem) {
        var problem = problem
        problem.outcome = .nothingChanged
        guard case .object(let document) = problem.document, case .string(let detail)? = document["detail"] else {
            Issue.record("it has no detail")
            return
        }
        #expect(detail.ranges(of: "nothing was changed").count == 1, "\(detail)")
        #expect(detail.hasSuffix("nothing was changed; try again later"))
    }
}
