import CarillonCore
import NIOHTTP1

extension HTTPHeaders {
    /// The headers of a signed JSON message (Standard Webhooks 1.0.0).
    static func signed(
        _ body: [UInt8],
        id: String,
        secrets: [WebhookSecret],
        userAgent: String,
        now: Timestamp
    ) -> HTTPHeaders {
        let timestamp = now.milliseconds / 1_000
        return [
            "content-type": "application/json",
            "user-agent": userAgent,
            "webhook-id": id,
            "webhook-timestamp": "\(timestamp)",
            "webhook-signature": WebhookSignature.sign(id: id, timestamp: timestamp, body: body, secrets: secrets),
        ]
    }

    /// Lets a message go on in the trace that it came from, each attempt as a step of its own (W3C Trace Context).
    mutating func goOn(in trace: TraceContext?) {
        guard let trace else { return }
        add(name: "traceparent", value: trace.next().header)
    }
}
