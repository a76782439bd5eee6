import Logging

extension TraceContext {
    package static let metadataKey = "trace.id"
}

extension PendingEvent {
    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["network": "\(networkID)", "event": "\(id)"]
        metadata[TraceContext.metadataKey] = event.trace.map { "\($0.traceID)" }
        return metadata
    }

    func metadata(_ error: any Error) -> Logger.Metadata {
        var metadata = metadata
        metadata["error"] = "\(error)"
        return metadata
    }
}

extension [PendingEvent] {
    private static let mostTraces = 10

    /// What lines of the log say of them when something went wrong: of one which it is, of several how many, and of which traces.
    func metadata(_ error: any Error) -> Logger.Metadata {
        if let first, count == 1 { return first.metadata(error) }
        var metadata: Logger.Metadata = ["error": "\(error)", "events": "\(count)"]
        let traces = Set(compactMap(\.event.trace?.traceID)).sorted().prefix(Self.mostTraces)
        if !traces.isEmpty { metadata[TraceContext.metadataKey] = .array(traces.map { "\($0)" }) }
        return metadata
    }
}
