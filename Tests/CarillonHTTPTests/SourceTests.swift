import CarillonCore
import CarillonTesting
import HTTPTypes
import Testing

/// Sources over HTTP (FACES section H5).
@Suite(.acme) struct SourceTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }
    private static let body = #"{"url":"https://crm.example/push","intervalSeconds":30}"#

    @Test(arguments: [
        (#"{}"#, ["/url", "/intervalSeconds"]),
        (#"{"url":"https://crm.example","intervalSeconds":2}"#, ["/intervalSeconds"]),
        (#"{"url":"https://crm.example","intervalSeconds":86401}"#, ["/intervalSeconds"]),
        (#"{"url":"https://10.0.0.1/x","intervalSeconds":3}"#, ["/url"]),
        (#"{"url":"https://crm.example/#x","intervalSeconds":3}"#, ["/url"]),
        (#"{"url":"https://crm.example","intervalSeconds":3,"enabled":1}"#, ["/enabled"]),
        (#"{"url":"https://crm.example","intervalSeconds":3,"cursor":"x"}"#, ["/cursor"]),
    ])
    func `what is wrong with one is pointed at`(body: String, pointers: [String]) async throws {
        let answer = try await network.call(.put, "sources/crm", body)
        #expect(answer.status == 400 && answer.pointers == pointers)
    }

    @Test func `only admins have to do with sources`() async throws {
        let key = try await api.makeKey("events", in: network)
        #expect(try await network.call(.get, "sources", as: key).status == 403)
        #expect(try await network.call(.put, "sources/crm", Self.body, as: key).status == 403)
        #expect(try await network.call(.delete, "sources/crm", as: key).status == 403)
        #expect(try await api.call(.get, network.path("sources")).status == 401)
    }

    @Test func `a source is made with a secret that is shown once, changed and removed`() async throws {
        let made = try await network.call(.put, "sources/crm", Self.body)
        #expect(made.status == 201 && made.string("secret")?.hasPrefix("whsec_") == true)
        let changed = try await network.call(
            .put,
            "sources/crm",
            #"{"url":"https://crm.example/push","intervalSeconds":60,"enabled":false}"#
        )
        #expect(changed.status == 200 && changed["secret"] == nil && changed["enabled"] == false)
        let shown = try await network.call(.get, "sources/crm")
        #expect(shown["intervalSeconds"] == 60 && shown["failures"] == 0 && shown["lastError"] == .some(.null))
        #expect(shown["secret"] == nil)
        let list = try await network.call(.get, "sources")
        #expect(list["items", "0", "id"] == "crm")
        #expect(try await network.call(.delete, "sources/crm").status == 204)
        #expect(try await network.call(.delete, "sources/crm").status == 404)
        #expect(try await network.call(.get, "sources/crm").status == 404)
    }

    @Test func `sources come in pages, by id`() async throws {
        for id in ["c", "a", "B"] { #expect(try await network.call(.put, "sources/\(id)", Self.body).status == 201) }
        #expect(try await network.pagesOfIDs(in: "sources", limit: 2) == [["B", "a"], ["c"]])
        for query in ["limit=0", "limit=1001", "limit=x", "cursor=!"] {
            let refused = try await network.call(.get, "sources?\(query)")
            #expect(refused.refusal == "400 invalid-parameter", "\(query)")
        }
    }

    @Test func `a network has no more than its share`() async throws {
        for number in 1...Source.maximumCount {
            #expect(
                try await network.call(.put, "sources/s\(number)", Self.body).status
                    == 201
            )
        }
        let over = try await network.call(.put, "sources/over", Self.body)
        #expect(over.refusal == "409 limit-reached")
    }
}
