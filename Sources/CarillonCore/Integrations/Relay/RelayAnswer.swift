import Foundation

/// What an endpoint answered to a message, as it is written down.
package struct RelayAnswer: Sendable, Equatable {
    /// The status, where there was an answer.
    package var status: Int?
    /// How long it took, in milliseconds; `nil` where nothing was sent.
    package var milliseconds: Int?
    package var error: String?

    /// An answer of whatever status.
    package init(status: Int, time: Duration) {
        self.status = status
        milliseconds = Int((time / .milliseconds(1)).rounded())
        error = (200..<300).contains(status) ? nil : Self.words(for: status)
    }

    package init(error: String, time: Duration) {
        self.error = error
        milliseconds = Int((time / .milliseconds(1)).rounded())
    }

    /// What came of a call.
    package init(_ answer: EndpointAnswer) {
        switch answer.result {
        case .success(let reply): self.init(status: reply.status, time: answer.time)
        case .failure(let failure): self.init(error: failure.reason, time: answer.time)
        }
    }

    /// What is said of a status.
    package static func words(for status: Int) -> String { "http \(status)" }
}

extension RelayAnswer: LosslessStringConvertible {
    /// Reads what ``description`` wrote; whatever else is an error in words.
    package init(_ description: String) {
        var words = description[...]
        if let range = description.range(of: " in ", options: .backwards), description.hasSuffix(" ms"),
            let time = Int(description[range.upperBound...].dropLast(3))
        {
            milliseconds = time
            words = description[..<range.lowerBound]
        }
        if words.hasPrefix("http "), let status = Int(words.dropFirst(5)) { self.status = status }
        error = status.map { (200..<300).contains($0) } == true ? nil : String(words)
    }

    /// The answer in words: `http 204 in 12 ms`, `timeout in 15000 ms`.
    package var description: String {
        let words = error ?? status.map(Self.words) ?? ""
        return milliseconds.map { "\(words) in \($0) ms" } ?? words
    }
}
