import CarillonCore
import NIOHTTP1
import Testing

extension Services.Neighbours {
    /// Large directories.
    @Suite struct DirectoryTests {
        private let scratch = Scratch()

        @Test
        func `the first message to a channel that was just imported takes about as long as the next`() async throws {
            let members = 15_000
            let service = try await RunningService.start(in: scratch)
            let network = try await TestNetwork(on: service)
            let people = (0..<members).map { Person("user-\($0)", device: ["provider": "log"]) }
            try await network.importPeople(people)
            let first = try await time { try await network.delivers("first", to: members) }
            let next = try await time { try await network.delivers("next", to: members) }
            print("\(members) members, just imported: \(first.inMilliseconds), then \(next.inMilliseconds)")
            #expect(first <= next * 3 + .seconds(3))
            #expect(try await service.stop() == 0)
        }

        @Test func `an import beside events about the same people disturbs nobody else`() async throws {
            let people = (0..<40_000).map { Person("user-\($0)") }
            try await WebhookHosts.whileListening { hosts, port in
                let service = try await RunningService.start(in: scratch)
                let innocent = try await Innocent(on: service, hosts: hosts, port: port)
                let quiet = try await innocent.notice("quiet")
                let network = try await TestNetwork("moving", on: service)
                let loaded = try await beside {
                    for number in 0... {
                        let user: JSONValue = ["id": .string(people[number % people.count].id), "displayName": "N"]
                        let event: JSONValue = [
                            "id": .string("e-\(number)"), "type": "user.updated", "data": ["user": user],
                        ]
                        _ = try await network.post(event)
                    }
                } _: {
                    try await beside({ while true { try await network.importPeople(people) } }) {
                        try await innocent.notice("loaded", count: 50)
                    }
                }
                try expectUndisturbed(beside: "a large import", loaded, quiet: quiet)
                service.program.kill()
            }
        }

        @Test func `a channel of many is deleted about as fast as one of few`() async throws {
            let members = 50_000
            let service = try await RunningService.start(in: scratch)
            let network = try await TestNetwork(on: service)
            try await network.importPeople((0..<20).map { Person("user-\($0)") }, channel: "few")
            try await network.importPeople((0..<members).map { Person("user-\($0)") }, channel: "many")
            let few = try await time { try await network.send(.DELETE, "/channels/few") }
            let many = try await time { try await network.send(.DELETE, "/channels/many") }
            print("a channel of 20 was deleted in \(few.inMilliseconds), one of \(members) in \(many.inMilliseconds)")
            #expect(many <= few * 3 + .milliseconds(300))
            #expect(try await network.send(.GET, "/channels/many", expecting: [404]) != .null)
            #expect(try await service.stop() == 0)
        }

        @Test func `a user with many devices delays nobody else`() async throws {
            try await WebhookHosts.whileListening { hosts, port in
                let service = try await RunningService.start(in: scratch)
                let innocent = try await Innocent(on: service, hosts: hosts, port: port)
                let quiet = try await innocent.notice("quiet")
                let network = try await TestNetwork("devices", on: service)
                try await network.importUser("mallory", devices: Array(repeating: ["provider": "log"], count: 20_000))
                let loaded = try await beside {
                    for number in 0... {
                        _ = try await network.post(TestEvents.messageSent("message-\(number)"))
                        try await Task.sleep(for: .seconds(1))
                    }
                } _: {
                    try await innocent.notice("loaded", count: 50)
                }
                try expectUndisturbed(beside: "a user with many devices", loaded, quiet: quiet)
                service.program.kill()
            }
        }
    }
}

/// How long something takes.
private func time(_ body: () async throws -> some Any) async throws -> Duration {
    let start = ContinuousClock.now
    _ = try await body()
    return .now - start
}
