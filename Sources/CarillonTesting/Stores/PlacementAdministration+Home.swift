package import CarillonCore

extension PlacementAdministration {
    /// That of the one placement there is, whose networks `survey` counts.
    package static func onlyHome(_ survey: any NetworkSurvey) -> PlacementAdministration {
        PlacementAdministration(
            names: [.home],
            catalog: nil,
            problem: { _ in nil },
            networks: { try await survey.surveyedNetworks().count },
            look: { _ in Look(reason: nil, schema: .init(version: 66, pending: []), bytes: 1) }
        )
    }
}
