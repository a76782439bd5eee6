import CarillonCore

/// How many lanes there are, by provider and circuit, and how many have their brake on. Not by lane: users make any number of them.
enum LaneMetrics {
    static func register(
        in registry: MetricRegistry,
        providers: [ProviderName],
        lanes: @escaping @Sendable () -> [LaneStatus]
    ) {
        registry.onScrape("carillon_lanes") {
            let lanes = lanes()
            return providers.flatMap { provider in
                [LaneStatus.Circuit.closed, .open].map { circuit in
                    let count = lanes.count { $0.lane.provider == provider && $0.circuit == circuit }
                    return MetricReading(
                        Double(count),
                        [("provider", provider.rawValue), ("circuit", circuit.rawValue)]
                    )
                }
            }
        }
        registry.onScrape("carillon_brakes") {
            let braked = lanes().filter { $0.brake != nil }
            return providers.map { provider in
                let count = braked.count { $0.lane.provider == provider }
                return MetricReading(Double(count), [("provider", provider.rawValue)])
            }
        }
    }
}
