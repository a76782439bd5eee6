import CarillonCore
import NIOHTTP1
import Testing

extension Services {
    /// Each of three toggles on and off, for each of three events: 24 combinations, each with its own outcome.
    @Suite struct ToggleMatrixTests {
        /// A member by what this member has switched off.
        private struct Member {
            let id: String
            let userIsOff: Bool
            let channelIsOff: Bool

            /// Which level says no first.
            func objection(networkIsOff: Bool) -> String? {
                networkIsOff ? "network" : userIsOff ? "user" : channelIsOff ? "channel" : nil
            }
        }

        private let members = [
            Member(id: "neither", userIsOff: false, channelIsOff: false),
            Member(id: "channel-off", userIsOff: false, channelIsOff: true),
            Member(id: "user-off", userIsOff: true, channelIsOff: false),
            Member(id: "both-off", userIsOff: true, channelIsOff: true),
        ]

        @Test func `every combination of toggles and events does what the levels say`() async throws {
            let scratch = Scratch()
            let service = try await RunningService.start(in: scratch)
            let network = try await TestNetwork(on: service)
            for member in members {
                try await network.addLogDevice("\(member.id)-device", of: member.id)
                try await network.send(.PUT, "/users/\(member.id)/notifications", ["enabled": .bool(!member.userIsOff)])
                let path = "/users/\(member.id)/channels/general/notifications"
                try await network.send(.PUT, path, ["enabled": .bool(!member.channelIsOff)])
            }
            for networkIsOff in [false, true] {
                try await network.send(.PUT, "/notifications", ["enabled": .bool(!networkIsOff)])
                let suffix = networkIsOff ? "off" : "on"
                let events = [
                    TestEvents.channelCreated("created-\(suffix)", members: members.map(\.id)),
                    TestEvents.memberJoined("joined-\(suffix)", "newcomer-\(suffix)"),
                    TestEvents.messageSent("sent-\(suffix)"),
                ]
                for event in events {
                    try await check(event, on: network, service, networkIsOff: networkIsOff)
                }
            }
        }

        private func check(
            _ event: JSONValue,
            on network: TestNetwork,
            _ service: RunningService,
            networkIsOff: Bool
        ) async throws {
            let id = try await network.accept(event)
            let state = try await network.done(id)
            let comment: Comment = "\(event["id"]?.text ?? "")"
            let objections = members.map { $0.objection(networkIsOff: networkIsOff) }
            for level in ["network", "user", "channel"] {
                let count = state["recipients"]?["suppressed"]?[level]?.integer
                let newcomers = newcomers(to: event, level, networkIsOff: networkIsOff)
                #expect(count == objections.count { $0 == level } + newcomers, comment)
            }
            let notified = zip(members, objections).filter { $0.1 == nil }.map { "\($0.0.id)-device" }
            #expect(state["recipients"]?["notified"]?.integer == notified.count, comment)
            #expect(service.logLines.filter { $0.eventID == id }.map(\.deviceID) == notified, comment)
            for (member, objection) in zip(members, objections) {
                let question: JSONValue = ["event": event, "userId": .string(member.id)]
                let explanation = try await network.send(.POST, "/explain", question)
                #expect(explanation["decidedBy"] == objection.map(JSONValue.string) ?? .null, comment)
                #expect(explanation["verdict"]?.text == (objection == nil ? "deliver" : "suppress"), comment)
            }
        }

        /// How many of those who joined before are suppressed at a level: they have set nothing and have no device.
        private func newcomers(to event: JSONValue, _ level: String, networkIsOff: Bool) -> Int {
            guard networkIsOff, level == "network" else { return 0 }
            switch event["type"]?.text {
            case "member.joined": return 1
            case "message.sent": return 2
            default: return 0
            }
        }
    }
}
