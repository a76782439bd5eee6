import CarillonClient
import Foundation
import HTTPTypes

/// Answers requests by a script, and remembers them.
actor ScriptedTransport: CarillonClient.Transport {
    /// What it does with one request.
    enum Step: Sendable {
        case answer(Int, String = "", [HTTPField.Name: String] = [:])
        case fail(URLError.Code)
        /// Waits until the task is cancelled.
        case hang
    }

    /// What it was sent.
    struct Sent: Sendable {
        let method: String
        let path: String
        let fields: HTTPFields
        let body: String?
        let timeout: Duration

        /// Method and path.
        var line: String { "\(method) \(path)" }
        var token: String? { fields[.authorization] }
    }

    private var steps: [Step]
    private(set) var sent: [Sent] = []

    /// A transport that takes these steps one after the other, and the last one from then on.
    init(_ steps: Step...) {
        self.steps = steps
    }

    func send(
        _ request: HTTPRequest,
        body: Data?,
        timeout: Duration
    ) async throws -> (response: HTTPResponse, body: Data) {
        sent.append(
            Sent(
                method: request.method.rawValue,
                path: request.path ?? "",
                fields: request.headerFields,
                body: body.map { String(decoding: $0, as: UTF8.self) },
                timeout: timeout
            )
        )
        let step = steps.count > 1 ? steps.removeFirst() : steps[0]
        switch step {
        case .answer(let status, let text, let fields):
            var response = HTTPResponse(status: .init(code: status))
            for (name, value) in fields { response.headerFields[name] = value }
            return (response, Data(text.utf8))
        case .fail(let code):
            throw URLError(code)
        case .hang:
            while true { try await Task.sleep(for: .seconds(60)) }
        }
    }
}
