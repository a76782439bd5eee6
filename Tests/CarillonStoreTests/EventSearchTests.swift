import CarillonCore
import Foundation
import Postgres
import Testing

@testable import CarillonStore
@testable import CarillonTesting

@Suite struct EventSearchTests {
    @Test func `a page walks on until it is full, or has looked at enough`() async throws {
        try await withStores { scene, pool in
            let incoming = (0..<12).map { number in
                scene.incoming(.message("c", from: Person(id: number == 0 ? "z" : "y"), id: "\(number)"))
            }
            _ = try await scene.inbox.accept(incoming)
            let ids = incoming.map(\.id)
            func page(
                _ actor: UserID,
                before event: EventID? = nil,
                reach: Int = 100
            ) async throws -> (ids: [EventID], next: EventID?) {
                try await pool.snapshot { session in
                    let filter = EventFilter(actorID: actor)
                    let search = EventSearch(network: scene.network, filter: filter, reach: reach, firstStep: 2)
                    let page = try search.page(before: event, limit: 1, session)
                    // What is planned next is planned for good.
                    let isFree = try session.queryFirst(
                        "SELECT current_setting('enable_sort')::boolean AND current_setting('enable_bitmapscan')::boolean"
                    ) { row in try row.decode(0, as: Bool.self) }
                    #expect(isFree == true)
                    return page
                }
            }
            #expect(try await page("z") == (ids: [ids[0]], next: nil))
            #expect(try await page("y") == (ids: [ids[11]], next: ids[11]))
            #expect(try await page("y", before: ids[2]) == (ids: [ids[1]], next: nil))
            #expect(try await page("z", reach: 6) == (ids: [], next: ids[6]))
            #expect(try await page("z", before: ids[6], reach: 6) == (ids: [ids[0]], next: ids[0]))
            #expect(try await page("z", before: ids[0], reach: 6) == (ids: [], next: nil))
        }
    }
}
