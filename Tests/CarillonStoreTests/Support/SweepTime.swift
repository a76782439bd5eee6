import CarillonTesting

/// When what a removal ended is swept: a test that comes back to it holds for both.
enum SweepTime: CaseIterable {
    case never
    case atOnce

    /// What sweeps, where it is done.
    func sweep(_ scene: StoreScene) -> @Sendable () async throws -> Void {
        switch self {
        case .never: {}
        case .atOnce: { try await scene.passTime() }
        }
    }
}
