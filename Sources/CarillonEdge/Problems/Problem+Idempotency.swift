package import CarillonCore
import HTTPTypes

/// The problems of requests with an `Idempotency-Key`.
extension Problem {
    package static let invalidIdempotencyKey = Problem(
        "invalid-idempotency-key",
        status: .badRequest,
        title: "The Idempotency-Key is not valid",
        detail: "must be one of 1 to 255 printable ASCII characters"
    )

    /// Why a request with a key is not carried out.
    package init(_ failure: IdempotentRequest.Failure) {
        switch failure {
        case .differentBody:
            self.init(
                "idempotency-key-reused",
                status: .unprocessableContent,
                title: "The Idempotency-Key was used for something else",
                detail: "within 24 hours a key stands for one body: take a new key"
            )
        case .tooMany:
            self = .conflict(
                "limit-reached",
                "at most \(IdempotentRequest.maximumPerNetwork) requests with an Idempotency-Key are remembered in 24 hours"
            )
        }
    }
}
