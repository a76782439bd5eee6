@testable import CarillonCore
@testable import CarillonProviders

// One more push service, whole, as somebody would add it. What is here one file would be three: the declaration beside the others in
// `CarillonCore/Values/Providers`, the adapter and its credential in a folder of `CarillonProviders`.

// MARK: - Declaration

extension ProviderName {
    /// Carrier pigeons: a ring is a token, a loft an app.
    static let pigeon = ProviderName(ProviderKind(name: "pigeon", address: .token(), lanes: .byApp))
}

// MARK: - Adapter

/// Hands each notification to the bird with the device's ring.
struct PigeonProvider: Provider {
    let name = ProviderName.pigeon
    let deadline = Duration.seconds(10)

    private let credentials: RememberedCredentials<PigeonCredential>

    init(credentials: RememberedCredentials<PigeonCredential>) {
        self.credentials = credentials
    }

    func send(_ group: DeliveryGroup, report: @Sendable @escaping (Target, Outcome) -> Void) async {
        await group.send(with: credentials, atMost: 8, report: report) { current in
            { target in .delivered(id: "\(current.value.grain) \(target.address?.text ?? "")") }
        }
    }
}

// MARK: - Credential

/// What the birds of a loft come back for.
struct PigeonCredential: PushCredential {
    let grain: String

    var identity: JSONObject { ["grain": .string(grain)] }
    var stored: JSONValue { .object(identity) }
    var description: String { "pigeons for \(grain)" }

    init(stored: JSONValue) throws(InvalidInput) {
        let errors = InputErrors()
        var reader = JSONObjectReader(stored, unknown: .refuse, into: errors)
        grain = reader.string("grain", required: true, nonEmpty: true) ?? ""
        reader.finish()
        try errors.throwIfAny(problem: "invalid-credential")
    }
}

extension CredentialFormat {
    /// Grain, for each loft.
    static let pigeon = CredentialFormat(.pigeon) { (document, _, _: PigeonCredential?, _) throws(InvalidInput) in
        try PigeonCredential(stored: document)
    }
}
