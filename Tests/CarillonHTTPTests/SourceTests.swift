import CarillonCore
import HTTPTypes
import Testing

/// Sources over HTTP (FACES section H5).
@Suite struct SourceTests {
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
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let answer = try await api.call(.put, network.path("sources/crm"), body, as: network.adminKey)
            #expect(answer.status == 400 && answer.pointers == pointers)
        }
    }

    @Test func `only admins have to do with sources`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let key = try await api.makeKey("events", in: network)
            #expect(try await api.call(.get, network.path("sources"), as: key).status == 403)
            #expect(try await api.call(.put, network.path("sources/crm"), Self.body, as: key).status == 403)
            #expect(try await api.call(.delete, network.path("sources/crm"), as: key).status == 403)
            #expect(try await api.call(.get, network.path("sources")).status == 401)
        }
    }

    @Test func `a source is made with a secret that is shown once, changed and removed`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let made = try await api.call(.put, network.path("sources/crm"), Self.body, as: network.adminKey)
            #expect(made.status == 201 && made.string("secret")?.hasPrefix("whsec_") == true)
            let changed = try await api.call(
                .put,
                network.path("sources/crm"),
                #"{"url":"https://crm.example/push","intervalSeconds":60,"enabled":false}"#,
                as: network.adminKey
            )
            #expect(changed.status == 200 && changed["secret"] == nil && changed["enabled"] == false)
            let shown = try await api.call(.get, network.path("sources/crm"), as: network.adminKey)
            #expect(shown["intervalSeconds"] == 60 && shown["failures"] == 0 && shown["lastError"] == .some(.null))
            #expect(shown["secret"] == nil)
            let list = try await api.call(.get, network.path("sources"), as: network.adminKey)
            #expect(list["items", "0", "id"] == "crm")
            #expect(try await api.call(.delete, network.path("sources/crm"), as: network.adminKey).status == 204)
            #expect(try await api.call(.delete, network.path("sources/crm"), as: network.adminKey).status == 404)
            #expect(try await api.call(.get, network.path("sources/crm"), as: network.adminKey).status == 404)
        }
    }

    @Test func `a network has no more than its share`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            for number in 1...Source.maximumCount {
                #expect(
                    try await api.call(.put, network.path("sources/s\(number)"), Self.body, as: network.adminKey).status
                        == 201
                )
            }
            let over = try await api.call(.put, network.path("sources/over"), Self.body, as: network.adminKey)
            #expect(over.status == 409 && over.problem == "limit-reached")
        }
    }
}
