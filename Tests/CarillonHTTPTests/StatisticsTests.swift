import CarillonCore
import CarillonTesting
import Foundation
import HTTPTypes
import Testing

/// `GET /stats` (CONSOLE section 2).
@Suite struct StatisticsTests {
    private static let range = "from=2026-11-24T11:00:00Z&to=2026-11-24T13:00:00Z"

    @Test func `figures are shown by steps, what did not happen is left out`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            var figures = StatisticsFigures()
            figures.events[.messageSent, default: .init()].accepted = 10
            figures.events[.messageSent, default: .init()].duplicate = 1
            let subject = StatisticsFigures.Subject(type: .messageSent, module: .chat)
            figures.recipients[subject, default: .init()].notified = 20
            figures.recipients[subject, default: .init()].noDevice = 1
            figures.recipients[subject, default: .init()].suppressed = [.user: 2, .channel: 1]
            figures.deliveries[.apns, default: .init()].delivered = 18
            figures.deliveries[.apns, default: .init()].retries = 1
            for milliseconds in [3, 3, 20] { figures.latency.note(Int64(milliseconds)) }
            let row = StatisticsRow(
                networkID: NetworkID(trusted: network.id),
                at: TestAPI.now + .seconds(60),
                origin: StatisticsRow.Origin(replica: UUID(), number: 1),
                figures: figures
            )
            try await api.store.statistics.write([row])
            let recipients =
                #"{"notified":20,"noDevice":1,"suppressed":{"network":0,"user":2,"channel":1,"endpoint":0}}"#
            for (step, at) in [("minute", "12:01"), ("hour", "12:00"), ("day", "00:00")] {
                let answer = try await api.call(
                    .get,
                    network.path("stats?\(Self.range)&step=\(step)"),
                    as: network.adminKey
                )
                let expected = """
                    [{"at":"2026-11-24T\(at):00.000Z","events":{"message.sent":{"accepted":10,"duplicate":1}},\
                    "recipients":\(recipients),"recipientsByType":{"message.sent":\(recipients)},\
                    "recipientsByModule":{"chat":\(recipients)},"deliveries":{"apns":{"delivered":18,"unregistered":0,\
                    "expired":0,"dead":0,"retries":1}},"latency":{"p50":3,"p99":20}}]
                    """
                #expect(answer["points"]?.serializedText == expected)
                #expect(answer["step"] == .string(step))
            }
            // A step that is begun is shown as a whole.
            let whole = try await api.call(
                .get,
                network.path("stats?from=2026-11-24T12:00:30Z&to=2026-11-24T12:01:30Z&step=minute"),
                as: network.adminKey
            )
            #expect(
                whole.string("from") == "2026-11-24T12:00:00.000Z" && whole.string("to") == "2026-11-24T12:02:00.000Z"
            )
            #expect(whole["points", "0", "latency", "p99"] == 20)
            let nothing = try await api.call(
                .get,
                network.path("stats?from=2026-11-24T12:00:00Z&to=2026-11-24T12:00:00Z&step=day"),
                as: network.adminKey
            )
            #expect(nothing.status == 200)
            #expect(
                try await api.call(.get, network.path("stats?\(Self.range)&step=day"), as: network.token()).status
                    == 403
            )
        }
    }

    @Test(arguments: [
        "", "?\(range)", "?\(range)&step=week", "?\(range)&step=", "?step=day&from=2026-11-24T11:00:00Z",
        "?step=day&to=2026-11-24T11:00:00Z", "?step=day&from=2026-11-24T11:00:01Z&to=2026-11-24T11:00:00Z",
        "?step=day&from=today&to=2026-11-24T11:00:00Z", "?\(range)&step=hour&limit=10", "?\(range)&step=hour&step=day",
        "?step=minute&from=2026-11-24T11:00:00Z&to=2026-11-25T12:01:00Z",
        "?step=day&from=1970-01-01T00:00:00Z&to=9999-12-31T23:59:59Z",
    ])
    func `a question that cannot be answered is 400`(query: String) async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let answer = try await api.call(.get, network.path("stats\(query)"), as: network.adminKey)
            #expect(answer.status == 400 && answer.problem == "invalid-parameter", "\(answer.text)")
        }
    }

    @Test func `1,500 points are not too many`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let query = "step=minute&from=2026-11-24T11:00:00Z&to=2026-11-25T12:00:00Z"
            let answer = try await api.call(.get, network.path("stats?\(query)"), as: network.adminKey)
            #expect(answer.status == 200 && answer["points"] == [])
        }
    }
}
