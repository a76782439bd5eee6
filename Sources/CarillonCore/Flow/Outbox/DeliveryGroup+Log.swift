import Logging

extension DeliveryGroup {
    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [
            "network": "\(lane.networkID)", "event": "\(cause.eventID)", "delivery.group": "\(id)",
            "provider": "\(lane.provider.rawValue)",
        ]
        metadata[TraceContext.metadataKey] = cause.trace.map { "\($0.traceID)" }
        return metadata
    }
}

extension Settlement {
    /// What lines of the log say of it: how many devices are in which state, and how many are tried again.
    var metadata: Logger.Metadata {
        var metadata = group.metadata
        for (state, records) in Dictionary(grouping: records, by: \.state) {
            metadata["devices.\(state.rawValue)"] = "\(records.count)"
        }
        if !remainders.isEmpty { metadata["devices.retry"] = "\(remainders.reduce(0) { $0 + $1.targets.count })" }
        return metadata
    }
}
