/// Finds bindings and keys of the networks of all placements: what may be one's that cannot be asked is not said to be absent.
package struct FaceLookup: Sendable {
    /// What cannot be known at the moment.
    package struct Gap: Sendable {
        /// What callers are told.
        package var problem: PlacementProblem
        /// The networks of which all is known nevertheless.
        package var others: Set<NetworkID>
    }

    /// What is known, for those who ask about a network of which all is known.
    package let known: FaceIndex
    private let gap: Gap?

    /// A look at what is known, of which `gap` says what is missing or may be outdated.
    package init(_ known: FaceIndex, lacking gap: Gap? = nil) {
        self.known = known
        self.gap = gap
    }

    /// Whether any network has bound a name of a face.
    ///
    /// - Throws: ``PlacementProblem/unavailable(_:reason:)`` where only one could have that cannot be asked about; so do the others.
    package func isBound(_ face: FaceName) throws(PlacementProblem) -> Bool {
        if known.isBound(face) { return true }
        if let gap { throw gap.problem }
        return false
    }

    /// The binding of a name: of those that anybody can name, or, with `network`, of those that only its callers can.
    package func binding(
        _ face: FaceName,
        _ name: String,
        ownedBy network: NetworkID? = nil
    ) throws(PlacementProblem) -> FaceBinding? {
        let found = known.binding(face, name, ownedBy: network)
        try check(found?.networkID ?? network)
        return found
    }

    /// The binding of a name, or of the pattern with the most other characters that stands for it.
    package func binding(_ face: FaceName, matching name: String) throws(PlacementProblem) -> FaceBinding? {
        let found = known.binding(face, matching: name)
        try check(found?.networkID)
        return found
    }

    package func key(_ face: FaceName, secret: String) throws(PlacementProblem) -> StoredFaceKey? {
        let found = known.key(face, secret: secret)
        try check(found?.key.networkID)
        return found
    }

    /// The key of a name that its holder has named, where it verifies what was signed with it.
    package func key(_ face: FaceName, named name: String) throws(PlacementProblem) -> StoredFaceKey? {
        let found = known.key(face, named: name)
        try check(found?.key.networkID)
        return found
    }

    /// Passes what is known of a network, or, of nobody's, that there is nothing.
    private func check(_ network: NetworkID?) throws(PlacementProblem) {
        guard let gap else { return }
        if let network, gap.others.contains(network) { return }
        throw gap.problem
    }
}
