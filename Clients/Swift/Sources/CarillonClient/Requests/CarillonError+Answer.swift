import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension CarillonError {
    /// What an answer without success means.
    init(_ response: HTTPResponse, _ body: Data, now: Date) {
        let problem = try? JSONDecoder.carillon.decode(CarillonClient.Problem.self, from: body)
        self.init(
            problem?.code ?? .unexpectedAnswer,
            status: response.status.code,
            problem: problem,
            requestID: response.headerFields[.requestID],
            retryAfter: response.headerFields[.retryAfter].flatMap { Duration(retryAfter: $0, now: now) }
        )
    }

    /// Why there is no answer.
    init(transportError error: any Error) {
        let code: Code
        switch (error as? URLError)?.code {
        case .timedOut: code = .timedOut
        case .badURL, .unsupportedURL: code = .invalidRequest
        // These do not pass by themselves, and whoever answers is not the service.
        case .badServerResponse, .cannotParseResponse, .secureConnectionFailed, .serverCertificateHasBadDate,
            .serverCertificateUntrusted, .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid:
            code = .unexpectedAnswer
        default: code = .unreachable
        }
        self.init(code, underlyingError: error)
    }
}

extension HTTPField.Name {
    /// `x-request-id`: by what the operator finds a request in the logs.
    static let requestID = HTTPField.Name("x-request-id") ?? .via
}
