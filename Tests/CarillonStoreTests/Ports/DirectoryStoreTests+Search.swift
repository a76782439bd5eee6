import CarillonCore
import CarillonTesting
import Testing

extension DirectoryStoreTests {
    @Test func `users are found by the beginning of id or name, whatever the case`() async throws {
        let people: [(id: UserID, name: String?)] = [
            ("alice", "Zoe"), ("ALBERT", nil), ("bob", "Alan"), ("carol", "aLBERTA"), ("50%_off", "100%"),
            ("d", "É tudo"),
            ("e", "Жанна"), ("al", "Albert"), ("f", "ΟΔΟΣ ΑΒ"), ("g", "50 percent"),
        ]
        for (id, name) in people {
            _ = try await scene.directory.putUser(Person(id: id, displayName: name), in: scene.network)
        }
        _ = try await scene.directory.putUser(Person(id: "alien"), in: scene.otherNetwork)
        _ = try await scene.directory.putUser(Person(id: "alone", displayName: "al"), in: scene.network)
        _ = try await scene.directory.deleteUser("alone", in: scene.network)
        func find(_ text: String) async throws -> [UserID] {
            try await scene.directory.users(matching: text, in: scene.network, after: nil, limit: 100).items.map(\.id)
        }
        // By id first, then by name, then by another word of it; each once.
        #expect(try await find("al") == ["al", "ALBERT", "alice", "bob", "carol"])
        #expect(try await find("AL") == ["al", "ALBERT", "alice", "bob", "carol"])
        #expect(try await find("albert") == ["ALBERT", "al", "carol"])
        #expect(try await find("é") == ["d"])
        #expect(try await find("ЖАН") == ["e"])
        #expect(try await find("οδος α") == ["f"])
        #expect(try await find("50%") == ["50%_off"])
        #expect(try await find("50%_") == ["50%_off"])
        #expect(try await find("5") == ["50%_off", "g"])
        #expect(try await find("_").isEmpty)
        #expect(try await find("%").isEmpty)
        #expect(try await find("lice").isEmpty)
        #expect(try await find("PERC") == ["g"])
        #expect(try await find("αβ") == ["f"])
        #expect(try await find("a") == ["al", "ALBERT", "alice", "bob", "carol"])
        #expect(try await find("") == ["50%_off", "al", "ALBERT", "alice", "bob", "carol", "d", "e", "f", "g"])
        #expect(
            try await scene.directory.users(matching: "ali", in: scene.network, after: nil, limit: 1).items
                == [Person(id: "alice", displayName: "Zoe")]
        )
    }

    @Test func `users are found by the beginning of any word of their name`() async throws {
        let people: [(id: UserID, name: String)] = [
            ("1", "Ada Lovelace"), ("2", "Lou van der Love"), ("3", "love"), ("4", "(Love) \"LOVELY\" O'Lov"),
            ("5", "Jean-Luc Clove"), ("6", "Glove"), ("7", "李\u{3000}小龍 Løve"), ("8", "Someone Lovely"),
            ("9", (1...40).map { "w\($0)" }.joined(separator: " ")), ("love-0", "Big Love"),
        ]
        func put(_ id: UserID, _ name: String?) async throws {
            _ = try await scene.directory.putUser(Person(id: id, displayName: name), in: scene.network)
        }
        for (id, name) in people { try await put(id, name) }
        _ = try await scene.directory.putUser(Person(id: "2", displayName: "My Love"), in: scene.otherNetwork)
        func find(_ text: String) async throws -> [UserID] {
            try await scene.directory.users(matching: text, in: scene.network, after: nil, limit: 100).items.map(\.id)
        }
        #expect(try await find("LOVE") == ["love-0", "3", "2", "4", "1", "8"])
        #expect(try await find("lov") == ["love-0", "3", "4", "2", "1", "8"])
        #expect(try await find("van der l") == ["2"])
        #expect(try await find("luc c") == ["5"])
        #expect(try await find("小龍") == ["7"])
        #expect(try await find("w33") == ["9"])
        #expect(try await find("w34").isEmpty)
        #expect(try await find("1") == ["1"])

        // What is found follows the name.
        try await put("8", "Someone Else")
        #expect(try await find("lovely") == ["4"])
        #expect(try await find("else") == ["8"])
        try await put("4", nil)
        #expect(try await find("lovely").isEmpty)
        _ = try await scene.directory.deleteUser("8", in: scene.network)
        #expect(try await find("else").isEmpty)
        try await put("8", "Somebody Else")
        #expect(try await find("else") == ["8"])
    }

    @Test func `channels are found by the beginning of id or name`() async throws {
        for (id, name) in [("general", nil), ("g-2", "General talk"), ("random", "Generals")] as [(ChannelID, String?)]
        {
            _ = try await scene.directory.putChannel(Channel(id: id, displayName: name), in: scene.network)
        }
        let found = try await scene.directory.channels(matching: "GENERAL", in: scene.network, after: nil, limit: 9)
        #expect(found.items.map(\.id) == ["general", "g-2", "random"])
        let talk = try await scene.directory.channels(matching: "TALK", in: scene.network, after: nil, limit: 9)
        #expect(talk.items.map(\.id) == ["g-2"])
        _ = try await scene.directory.deleteChannel("general", in: scene.network)
        let left = try await scene.directory.channels(matching: "", in: scene.network, after: nil, limit: 9)
        #expect(
            left.items == [
                Channel(id: "g-2", displayName: "General talk"), Channel(id: "random", displayName: "Generals"),
            ]
        )
    }

    @Test func `what is found comes in pages, each once`() async throws {
        // Some match by id, some by name, some by both, some by another word; many names are the same, or differ behind what orders them.
        let long = String(repeating: "u", count: 150)
        var expected: Set<UserID> = []
        for number in 0..<18 {
            let id = UserID(trusted: number % 3 == 0 ? "u\(number)" : "x\(number)")
            let first = number >= 12 ? "The " : ""
            let name = number % 4 == 3 ? nil : first + (number % 2 == 0 ? "U" : "\(long)\(number) u")
            _ = try await scene.directory.putUser(Person(id: id, displayName: name), in: scene.network)
            if number % 3 == 0 || name != nil { expected.insert(id) }
        }
        for limit in 1...5 {
            var met: [UserID] = []
            var cursor: SearchCursor?
            repeat {
                let page = try await scene.directory.users(
                    matching: "U",
                    in: scene.network,
                    after: cursor,
                    limit: limit
                )
                met += page.items.map(\.id)
                cursor = try page.next.map { try #require(SearchCursor($0.description)) }
            } while cursor != nil
            #expect(Set(met) == expected && met.count == expected.count)
        }
        let exact = try await scene.directory.users(matching: "\(long)5", in: scene.network, after: nil, limit: 9)
        #expect(exact.items.map(\.id) == ["x5"])
    }
}
