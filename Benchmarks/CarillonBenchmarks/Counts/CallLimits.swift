/// How many calls an event may take: what neither the machine nor the optimiser changes much, over one connection.
///
/// What a service does now and then is in the counts, too, the more of it for each event the slower the machine is: so limits are above what was
/// counted, which is what a debug build took beside a compiler, and with a tenth of a processor.
enum CallLimits {
    /// The limits of a load, none for one whose batches depend on the machine.
    static func of(_ load: EventLoad) -> [CallCounter.Kind: Double] {
        switch (load.connections, load.eventsPerRequest, load.device == nil) {
        case (1, 1, true):
            // 11.1, 3.8 to 4.0, 5.0 to 5.2, 5.0 to 5.2, none.
            [.statements: 13, .roundTrips: 5, .reads: 6.5, .writes: 6.5, .random: 0.1]
        case (1, 1, false):
            // 16.6 to 18.0, 5.3 to 5.6, 8.1 to 8.9, 9.1 to 9.9, none: less where two events are settled at a time.
            [.statements: 24, .roundTrips: 8, .reads: 12, .writes: 13, .random: 0.1]
        case (1, 50, true):
            // 0.29 to 0.31, 0.082 to 0.084, 0.18 to 0.19, 0.17 to 0.19, none: 15 statements in four round trips for all fifty.
            [.statements: 0.4, .roundTrips: 0.12, .reads: 0.3, .writes: 0.3, .random: 0.1]
        // Fifty with devices are settled in as many parts as the machine is slow, and 64 connections share what comes meanwhile.
        default: [:]
        }
    }
}
