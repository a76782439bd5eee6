import NIOCore
import NIOPosix
import Synchronization

/// Asks over many connections, on each as soon as it is answered, and counts the answers.
final class Asking: Sendable {
    // Not those of the innocent network's requests.
    private static let eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    private let counts = Mutex<[Int: Int]>([:])

    /// How many answers there were of each status.
    var figures: [Figure] {
        counts.withLock { counts in
            counts.sorted { $0.key < $1.key }.map { Figure("the neighbour's answers of \($0.key)", count: $0.value) }
        }
    }

    /// Asks until it is cancelled, over so many connections; `request` makes the request of each number.
    func keep(
        _ connections: Int,
        of port: Int,
        bearer: String? = nil,
        _ request: @escaping @Sendable (Int) -> HTTPRequest
    ) async {
        await withDiscardingTaskGroup { group in
            for connection in 0..<connections {
                group.addTask {
                    let client = HTTPClient(port: port, bearer: bearer, group: Self.eventLoops)
                    var number = connection
                    while !Task.isCancelled {
                        await self.note { try await client.send(request(number)).status }
                        number += connections
                    }
                    await client.close()
                }
            }
        }
    }

    /// Counts what is answered; a connection that fails is opened again a moment later.
    func note(_ status: () async throws -> Int) async {
        do {
            let status = try await status()
            counts.withLock { $0[status, default: 0] += 1 }
        } catch {
            try? await Task.sleep(for: .milliseconds(10))
        }
    }
}
