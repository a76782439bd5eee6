import CarillonCore
import CarillonDialects

/// By what the sender of a dialect's post proves who it is: the first of these that a request shows.
enum DialectProof {
    /// An API key.
    case key
    /// A signature of Standard Webhooks, which events of CloudEvents may have.
    case signature
    /// What the other system has for it.
    case own

    init(to dialect: any EventDialect, authorization: String?, hasSignature: Bool) {
        if let authorization, DialectRequestReader.isKey(authorization, for: dialect) {
            self = .key
        } else {
            self = dialect.name == .cloudevents && hasSignature ? .signature : .own
        }
    }
}
