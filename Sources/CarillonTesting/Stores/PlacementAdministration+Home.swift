package import CarillonCore

extension PlacementAdministration {
    /// That of the one placement there is, whose networks `reportSource` counts.
    package static func onlyHome(_ reportSource: any NetworkReportSource) -> PlacementAdministration {
        PlacementAdministration(
            names: [.home],
            catalog: nil,
            problem: { _ in nil },
            networks: { try await reportSource.namedNetworks().count },
            look: { _ in Look(reason: nil, schema: .init(version: 72, pending: []), bytes: 1) }
        )
    }
}
