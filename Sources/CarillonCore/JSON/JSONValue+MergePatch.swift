extension JSONValue {
    /// This value changed by a JSON Merge Patch (RFC 7396): `null` removes a member, objects are merged, the rest replaces.
    ///
    /// Members keep their places, new ones go to the end in the order of the patch. Takes linear time.
    package func merging(patch: JSONValue) -> JSONValue {
        guard case .object(let changes) = patch else { return patch }
        let target = object ?? JSONObject()
        var merged = JSONObject()
        for (name, value) in target.members {
            switch changes[name] {
            case nil: merged[name] = value
            case .some(.null): break
            case .some(let change): merged[name] = value.merging(patch: change)
            }
        }
        for (name, change) in changes.members where change != .null && !target.contains(name) {
            merged[name] = JSONValue.null.merging(patch: change)
        }
        return .object(merged)
    }

    /// This JSON Merge Patch and a later one as one patch: what the later one removes stays to be removed.
    package func followed(byPatch later: JSONValue) -> JSONValue {
        guard case .object(var changes) = self, case .object(let laterChanges) = later else { return later }
        for (name, change) in laterChanges.members {
            changes[name] = changes[name].map { $0.followed(byPatch: change) } ?? change
        }
        return .object(changes)
    }
}
