import CarillonCore
import NIOCore
import Synchronization

/// Strangers who invent tokens of a network's users, about which its server says nothing, beside users who were known lately.
final class InventedTokens: Neighbour {
    private static let perSecond = 45
    private static let users = 20

    private let asking = Asking()
    /// How many of the users' requests were answered, and how many of them not as they should.
    private let answered = Mutex((all: 0, refused: 0))

    func prepare(_ network: TestNetwork, _ scene: Scene) async throws {
        let settings: JSONValue = [
            "url": .string("http://127.0.0.1:\(scene.webhookPort)/whoami"), "userIdPointer": "/id", "cacheSeconds": 0,
        ]
        let request = HTTPRequest.json("PUT", "\(network.path)/user-token-introspection", settings.serialized)
        let admin = HTTPClient(port: scene.service.port, bearer: network.apiKey)
        _ = try await admin.send(request).expecting(200)
        await admin.close()
        for number in 0..<Self.users { _ = try await ask(as: "user-\(number)", network, scene).expecting(200) }
    }

    func misbehave(_ network: TestNetwork, _ scene: Scene) async throws {
        await withDiscardingTaskGroup { group in
            let start = ContinuousClock.now
            for number in 0... {
                let due = start + .seconds(1) * number / Self.perSecond
                guard (try? await Task.sleep(until: due)) != nil else { return }
                group.addTask {
                    await self.asking.note { try await self.ask(as: "invented-\(number)", network, scene).status }
                }
                guard number > 2 * Self.perSecond, number.isMultiple(of: Self.perSecond / 5) else { continue }
                group.addTask {
                    let user = "user-\(number % Self.users)"
                    self.note((try? await self.ask(as: user, network, scene).status) == 200)
                }
            }
        }
    }

    func figures(_ scene: Scene) async throws -> [Figure] {
        let (all, refused) = answered.withLock(\.self)
        return asking.figures + [
            Figure("requests of \(all) of known users that were not answered", count: refused, goal: .atMost(0))
        ]
    }

    private func ask(as token: String, _ network: TestNetwork, _ scene: Scene) async throws -> HTTPAnswer {
        let client = HTTPClient(port: scene.service.port, bearer: token)
        do {
            let answer = try await client.send(HTTPRequest(path: "\(network.path)/users/me/notifications"))
            await client.close()
            return answer
        } catch {
            await client.close()
            throw error
        }
    }

    private func note(_ isGood: Bool) {
        // What is cut off when the measurement is over says nothing.
        guard !Task.isCancelled else { return }
        answered.withLock { $0 = ($0.all + 1, $0.refused + (isGood ? 0 : 1)) }
    }
}
