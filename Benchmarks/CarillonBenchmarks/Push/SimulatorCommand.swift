import ArgumentParser
import CarillonCore
import CarillonSimulator
import Foundation

/// Plays the push services in a process of its own, so that its processor time is told apart.
///
/// It says on one line of JSON what it is, and then answers each line that it reads with one. It ends with its input.
struct SimulatorCommand: AsyncParsableCommand {
    /// The first word of the command line that asks for it.
    static let name = "simulator"
    static let configuration = CommandConfiguration(commandName: name)

    /// A line that it understands; `record` is followed by the path of a file.
    enum Order: String {
        case count
        case reset
        case record
    }

    @Option(help: "How long every answer waits, in milliseconds.")
    var delay = 0

    @Option(help: "How many browsers there are.")
    var subscriptions = 0

    @Option(help: "Where generated files are kept.")
    var directory: String

    @Flag(help: "Check everything and remember ids; accept unread and count only, otherwise.")
    var identifiers = false

    func run() async throws {
        var configuration = SimulatorConfiguration()
        configuration.directory = directory
        configuration.detail = identifiers ? .identifiers : .counts
        configuration.recordLimit = 2_000_000
        configuration.disturbances.delay = .milliseconds(delay)
        // The yardstick has a provider token of its own.
        configuration.limitsTokenUpdates = false
        let simulator = try await Simulator.start(configuration)
        say(try SimulatorGreeting.line(of: simulator, subscriptionCount: subscriptions))
        for await line in Self.input() {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            switch words.first.flatMap(Order.init) {
            case .count: break
            case .reset: simulator.received.removeAll()
            case .record where words.count == 2: try record(simulator.received, in: words[1])
            case .record, nil: throw ValidationError("unknown order: \(line)")
            }
            let (total, accepted) = (simulator.received.total, simulator.received.accepted)
            say(#"{"total":\#(total),"accepted":\#(accepted)}"#)
        }
        await simulator.shutdown()
    }

    /// Writes a line for each notification that was accepted: its id, and when it had arrived in µs since 1970.
    private func record(_ received: ReceivedNotifications, in path: String) throws {
        var text = ""
        for notification in received.notifications where notification.isAccepted {
            let (seconds, attoseconds) = notification.receivedAt.components
            let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
            text += "\(notification.notificationID?.lowercased() ?? "-") \(microseconds)\n"
        }
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    private func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }

    /// The lines of standard input; they are waited for on a thread of their own.
    private static func input() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        return stream
    }
}
