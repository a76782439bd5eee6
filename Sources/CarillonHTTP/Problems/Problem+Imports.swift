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

    static let insufficientStorage = Problem(
        "insufficient-storage",
        .init(code: 507, reasonPhrase: "Insufficient Storage"),
        "There is no room for the import",
        "the disk that imports are kept on while they arrive is nearly full; nothing was imported",
        headers: [.retryAfter: "60", .connection: "close"]
    )
}
