/// Something that is wrong with a network, for whoever runs the service.
package struct NetworkTrouble: Sendable, Equatable {
    /// What kind of thing, the worst first: what nothing goes through for, what is lost at the door, what does not come in, what is
    /// not told to others, what is not believed, and what is over.
    package enum Kind: String, Sendable, CaseIterable, Comparable {
        /// Work has been due for long and nobody does it.
        case queue
        /// A lane is not sent to.
        case lane
        /// A credential is missing, or ends soon.
        case credential
        /// Posts of chat backends are refused.
        case senders
        /// A source does not answer as it should.
        case source
        /// An endpoint is disabled, or nothing goes through to it.
        case endpoint
        /// Reports of dead devices are not believed.
        case brake
        case deadLetters

        /// The worse one is the smaller one.
        package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

        fileprivate var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// How many of each kind are named of a network.
    package static let mostOfKind = 20
    /// How many dead letters of a network are counted.
    package static let mostLetters = 100
    /// How long before it ends somebody should know of a certificate.
    package static let notice = Duration.seconds(30 * 86_400)
    /// For how long work may be due.
    package static let patience = Duration.seconds(60)

    package var kind: Kind
    /// Which one it is, such as a lane or an endpoint.
    package var name: String
    /// Since when, as far as that is known.
    package var since: Timestamp?
    /// What is wrong with it; holds no token and no text.
    package var detail: String

    package init(_ kind: Kind, _ name: String, since: Timestamp?, _ detail: String) {
        self.kind = kind
        self.name = name
        self.since = since
        self.detail = detail
    }
}

extension NetworkTrouble {
    package static func troubles(of status: LaneStatus) -> [NetworkTrouble] {
        let lane = status.lane
        var troubles: [NetworkTrouble] = []
        if status.circuit == .open {
            troubles.append(NetworkTrouble(.lane, lane.label, since: status.since, status.reason ?? ""))
        }
        if let brake = status.brake {
            troubles.append(NetworkTrouble(.brake, lane.label, since: brake.since, brake.reason))
        }
        return troubles
    }

    /// There are devices of an app, and no credential to send to them with.
    package static func missingCredential(of lane: Lane) -> NetworkTrouble {
        NetworkTrouble(
            .credential,
            lane.label,
            since: nil,
            "there are devices and no credential, so that nothing is sent to them"
        )
    }

    /// There are browsers, and nobody answers for what is sent to them: Apple refuses that, so that nothing is.
    package static func missingSubject(of lane: Lane) -> NetworkTrouble {
        NetworkTrouble(
            .credential,
            lane.label,
            since: nil,
            "there are devices and the key pair has no subject, so that nothing is sent to them"
        )
    }

    /// A credential that ends, where that is soon.
    package static func endingCredential(of lane: Lane, _ identity: JSONObject, at now: Timestamp) -> NetworkTrouble? {
        guard case .string(let text)? = identity["notAfter"], let end = Timestamp(rfc3339: text), end - now < notice
        else { return nil }
        let detail = end <= now ? "the certificate ended at \(end)" : "the certificate ends at \(end)"
        return NetworkTrouble(.credential, lane.label, since: end <= now ? end : nil, detail)
    }

    /// An endpoint that is disabled, or that nothing goes through to since a moment.
    package static func endpoint(_ endpoint: Endpoint, failingSince: Timestamp?) -> NetworkTrouble {
        let isDisabled = endpoint.state == .disabled
        return NetworkTrouble(
            .endpoint,
            endpoint.id.rawValue,
            since: isDisabled ? endpoint.stateAt : failingSince,
            isDisabled
                ? "disabled: \(endpoint.stateReason ?? "by an admin")" : endpoint.lastError ?? "nothing goes through"
        )
    }

    /// A source that failed so often in a row.
    package static func source(
        _ id: SourceID,
        failures: Int,
        since: Timestamp?,
        error: String?
    ) -> NetworkTrouble {
        let times = failures == 1 ? "failed once" : "failed \(failures) times in a row"
        return NetworkTrouble(
            .source,
            id.rawValue,
            since: since,
            [times, error].compactMap(\.self).joined(separator: ": ")
        )
    }

    /// So many deliveries of a lane were given up, or more.
    package static func deadLetters(_ count: Int, in lane: Lane, since: Timestamp?) -> NetworkTrouble {
        let words = count == 1 ? "1 dead letter" : "\(count)\(count < mostLetters ? "" : " or more") dead letters"
        return NetworkTrouble(.deadLetters, lane.label, since: since, words)
    }

    package static func queue(_ wait: Duration, at now: Timestamp) -> NetworkTrouble? {
        guard wait > patience else { return nil }
        return NetworkTrouble(
            .queue,
            "queue",
            since: now - wait,
            "work has been due for \(wait.components.seconds) s"
        )
    }
}

extension Lane {
    fileprivate var label: String { appID.isEmpty ? provider.rawValue : "\(provider.rawValue)/\(appID)" }
}
