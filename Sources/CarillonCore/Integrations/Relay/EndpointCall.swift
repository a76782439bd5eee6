/// One message to an endpoint, to be signed and sent once, with somebody waiting for the answer.
package struct EndpointCall: Sendable {
    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
    }

    package var networkID: NetworkID
    package var endpointID: EndpointID
    package var method: Method
    package var url: String
    /// What signs, the newest first.
    package var secrets: [WebhookSecret]
    /// The `webhook-id`, by which the endpoint knows a message that comes twice.
    package var messageID: String
    package var body: [UInt8]
    /// The form of the body, which says how else it is signed.
    package var format: EndpointSettings.Format
    /// How long all of it may take, from the look-up of the name to the last byte of the answer.
    package var timeout: Duration
    /// Where what it is told of stands in a trace of its sender's.
    package var trace: TraceContext?

    package init(
        networkID: NetworkID,
        endpointID: EndpointID,
        method: Method = .post,
        url: String,
        secrets: [WebhookSecret],
        messageID: String,
        body: [UInt8],
        format: EndpointSettings.Format = .carillon,
        timeout: Duration,
        trace: TraceContext? = nil
    ) {
        self.networkID = networkID
        self.endpointID = endpointID
        self.method = method
        self.url = url
        self.secrets = secrets
        self.messageID = messageID
        self.body = body
        self.format = format
        self.timeout = timeout
        self.trace = trace
    }
}

/// What came of a call.
package struct EndpointAnswer: Sendable, Equatable {
    /// Why there was no answer.
    package struct Failure: Error, Sendable, Equatable {
        /// In a few words, without an address.
        package var reason: String
        package var isTimeout: Bool
        /// Whether it was not asked, because others had all connections: no fault of the endpoint.
        package var isBusy: Bool

        package init(reason: String, isTimeout: Bool = false, isBusy: Bool = false) {
            self.reason = reason
            self.isTimeout = isTimeout
            self.isBusy = isBusy
        }
    }

    /// An answer of whatever status.
    package struct Reply: Sendable, Equatable {
        /// The status; a redirect is an answer like any other.
        package var status: Int
        /// The body; `nil` when it is longer than is read.
        package var body: [UInt8]?

        package init(status: Int, body: [UInt8]?) {
            self.status = status
            self.body = body
        }
    }

    package var result: Result<Reply, Failure>
    package var time: Duration

    package init(_ result: Result<Reply, Failure>, time: Duration) {
        self.result = result
        self.time = time
    }
}

/// Calls endpoints, at permitted addresses only.
package protocol EndpointCaller: Sendable {
    /// Signs and sends a message, once, and waits for the answer.
    func call(_ call: EndpointCall) async -> EndpointAnswer
}
