import CarillonCore
import CarillonDialects
import CarillonEdge
import HTTPTypes
import Hummingbird

extension EventDialect {
    /// The answer to events that are durable. Nothing in it may read as a message: some post what they are answered into the chat.
    func answer(to reading: DialectReading, _ receipts: [Receipt]) -> (status: HTTPResponse.Status, json: JSONValue) {
        switch answer {
        case .nothing:
            return (.ok, [:])
        case .receipts:
            return (.ok, one(of: receipts.map(\.json), reading))
        case .results:
            let results = zip(reading.events, receipts).map { event, receipt -> JSONValue in
                [
                    "id": JSONValue(event.shownID), "eventId": .string(receipt.id.description),
                    "status": .string(receipt.status.rawValue),
                ]
            }
            return (.accepted, one(of: results, reading))
        }
    }

    private func one(of results: [JSONValue], _ reading: DialectReading) -> JSONValue {
        guard !reading.isList, results.count == 1, let result = results.first else {
            return ["results": .array(results)]
        }
        return result
    }
}

extension Problem {
    /// The answer to an application service's homeserver.
    var matrixAnswer: Response {
        // Whose token is wrong is told so by 403 there.
        let status = status == .unauthorized ? .forbidden : status
        let code =
            switch status {
            case .forbidden: "M_FORBIDDEN"
            case .notFound: "M_NOT_FOUND"
            case .contentTooLarge: "M_TOO_LARGE"
            case .tooManyRequests: "M_LIMIT_EXCEEDED"
            case .badRequest: name == "invalid-json" ? "M_NOT_JSON" : "M_BAD_JSON"
            default: "M_UNKNOWN"
            }
        var headers = headers
        headers[.wwwAuthenticate] = nil
        return .json(
            ["errcode": .string(code), "error": .string(detail ?? title)],
            status: status,
            headers: headers
        )
    }
}
