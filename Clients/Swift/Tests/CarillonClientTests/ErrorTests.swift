import CarillonClient
import Foundation
import HTTPTypes
import Testing

@Suite struct ErrorTests {
    @Test func `carries the problem document`() async throws {
        let more = #","outcome":"unknown","errors":[{"pointer":"/token","detail":"is not hexadecimal"}]"#
        let id = try #require(HTTPField.Name("x-request-id"))
        let transport = ScriptedTransport(.answer(409, Documents.problem("device-taken", 409, more: more), [id: "r-1"]))
        let error = try #require(await failure(transport))
        #expect(error.code == .deviceTaken)
        #expect(error.status == 409 && error.requestID == "r-1")
        #expect(error.problem?.outcome == .unknown)
        #expect(error.problem?.errors.map(\.pointer) == ["/token"])
        #expect("\(error)" == "device-taken (409): not now; /token: is not hexadecimal")
        #expect(error.localizedDescription == "\(error)")
    }

    @Test(arguments: [(502, "<html>Bad gateway</html>"), (404, #"{"error":"no such page"}"#), (301, "")])
    func `an answer that is not Carillon's is called that`(status: Int, text: String) async throws {
        let error = try #require(await failure(ScriptedTransport(.answer(status, text))))
        #expect(error.code == .unexpectedAnswer && error.status == status && error.problem == nil)
    }

    @Test func `a success that cannot be read is an error, and shows nothing of the body`() async throws {
        let transport = ScriptedTransport(.answer(200, #"{"id":"secret"}"#))
        let error = await #expect(throws: CarillonError.self) {
            try await CarillonClient.test(transport).device("d-1")
        }
        #expect(error?.code == .unexpectedAnswer && error?.underlyingError is DecodingError)
        #expect(error.map { "\($0)" } == "unexpected-answer (200)")
    }

    @Test func `no error shows the token`() async throws {
        let error = try #require(await failure(ScriptedTransport(.fail(.cannotConnectToHost))))
        var dumped = ""
        dump(error, to: &dumped)
        #expect(!dumped.contains("jwt") && !"\(error)".contains("jwt"))
        #expect(error.code == .unreachable && error.isTransient)
    }

    private func failure(_ transport: ScriptedTransport) async -> CarillonError? {
        await #expect(throws: CarillonError.self) {
            try await CarillonClient.test(transport, policy: .never).unregister("d")
        }
    }
}
