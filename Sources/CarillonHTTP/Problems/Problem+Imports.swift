import CarillonCore
import CarillonEdge
import HTTPTypes

extension Problem {
    static let importRunning = Problem(
        "import-running",
        .tooManyRequests,
        "The network has an import running",
        "one import at a time; nothing was imported",
        headers: [.retryAfter: "10", .connection: "close"]
    )

    static let tooManyImports = serviceUnavailable("other imports are running", retryAfter: 30)

    static let importInterrupted = serviceUnavailable(
        "a part of the import may have been applied: post the whole import again, which has the same result",
        retryAfter: 10
    )

    /// A limit that no line breaks by itself: what stood before the line that goes over it has been applied.
    static func importStopped(by reached: LimitReached) -> Problem {
        var problem = limitReached(reached)
        problem.detail = """
            \(reached.count.rawValue) is \(reached.limit), and a part of the import may have been applied: raise the limit, \
            or leave lines out, and post the whole import again
            """
        return problem
    }

    static let insufficientStorage = Problem(
        "insufficient-storage",
        .init(code: 507, reasonPhrase: "Insufficient Storage"),
        "There is no room for the import",
        "the disk that imports are kept on while they arrive is nearly full; nothing was imported",
        headers: [.retryAfter: "60", .connection: "close"]
    )
}
