package import CarillonCore

/// Names a binding or a key within its network.
struct MemoryFaceKey: Hashable {
    var face: FaceName
    var name: String
}

extension MemoryStore: FaceStore {
    /// Stores a binding in the place of the network's own of this name; `true` when it is new.
    package func putFaceBinding(_ binding: FaceBinding, claiming: Bool) async throws -> Bool {
        try withState { state in
            guard let network = state.networks[binding.networkID] else { throw UnknownNetwork() }
            let key = MemoryFaceKey(face: binding.face, name: binding.externalID)
            let former = network.faceBindings[key]
            guard binding.isPrivate || former?.isPrivate == false || claiming else { throw FaceRefusal.notOwned }
            let count = network.faceBindings.keys.count { $0.face == binding.face }
            guard former != nil || count < FaceBinding.maximumCount else { throw FaceRefusal.tooMany }
            let isTaken = state.networks.contains { id, other in
                id != binding.networkID && other.faceBindings[key]?.isPrivate == false
            }
            guard binding.isPrivate || !isTaken else { throw FaceRefusal.nameTaken }
            state.networks[binding.networkID]?.faceBindings[key] = binding
            state.faceChanges += 1
            return former == nil
        }
    }

    /// Removes a network's binding; `false` when there is none.
    package func deleteFaceBinding(_ face: FaceName, externalID: String, of network: NetworkID) async throws -> Bool {
        try withState { state in
            let key = MemoryFaceKey(face: face, name: externalID)
            guard state.networks[network]?.faceBindings.removeValue(forKey: key) != nil else { return false }
            state.faceChanges += 1
            return true
        }
    }

    /// A network's bindings by face and name.
    package func faceBindings(of network: NetworkID) async throws -> [FaceBinding] {
        try withState { state in
            (state.networks[network]?.faceBindings.values.map(\.self) ?? []).sorted {
                ($0.face.rawValue, $0.externalID) < ($1.face.rawValue, $1.externalID)
            }
        }
    }

    /// Adds a key, once as `answering` says.
    package func addFaceKey(_ key: StoredFaceKey, answering request: IdempotentRequest?) async throws -> Creation {
        try once(request) { state in
            guard let network = state.networks[key.key.networkID] else { throw UnknownNetwork() }
            let count = network.faceKeys.keys.count { $0.face == key.key.face }
            guard count < FaceKey.maximumCount else { throw FaceRefusal.tooMany }
            let all = state.networks.values.flatMap(\.faceKeys.values).filter { $0.key.face == key.key.face }
            let isTaken = all.contains { other in
                if other.key.name == key.key.name, other.key.networkID == key.key.networkID { return true }
                switch (key.proof, other.proof) {
                case (.hash(let hash), .hash(let others)): return hash == others
                case (.secret, .secret): return key.key.name == other.key.name
                default: return false
                }
            }
            guard !isTaken else { throw FaceRefusal.nameTaken }
            let name = MemoryFaceKey(face: key.key.face, name: key.key.name)
            state.networks[key.key.networkID]?.faceKeys[name] = key
            state.faceChanges += 1
            return true
        }
    }

    /// Removes a key; `false` when there is none.
    package func deleteFaceKey(_ face: FaceName, name: String, of network: NetworkID) async throws -> Bool {
        try withState { state in
            let key = MemoryFaceKey(face: face, name: name)
            guard state.networks[network]?.faceKeys.removeValue(forKey: key) != nil else { return false }
            state.faceChanges += 1
            return true
        }
    }

    /// A network's keys for a face by name.
    package func faceKeys(_ face: FaceName, of network: NetworkID) async throws -> [FaceKey] {
        try withState { state in
            (state.networks[network]?.faceKeys.values.map(\.key) ?? []).filter { $0.face == face }
                .sorted { $0.name < $1.name }
        }
    }

    /// All bindings and keys of all networks; `nil` when they are still of that version.
    package func faceList(unless version: FaceList.Version?) async throws -> FaceList? {
        try withState { state in
            let present = FaceList.Version(changes: state.faceChanges)
            guard present != version else { return nil }
            return FaceList(
                version: present,
                bindings: state.networks.values.flatMap(\.faceBindings.values),
                keys: state.networks.values.flatMap(\.faceKeys.values)
            )
        }
    }

    /// Marks something as used that may be used once, until a moment; `false` when it was used before.
    package func useNonce(_ hash: [UInt8], until end: Timestamp, of network: NetworkID) async throws -> Bool {
        let now = clock.now()
        return try withNetwork(network) { network in
            network.nonces = network.nonces.filter { $0.value > now }
            guard network.nonces[hash] == nil else { return false }
            let count = network.nonces.keys.count { $0.first == hash.first }
            guard count < FaceNonces.maximumPerByte else { throw FaceRefusal.tooManyNonces }
            network.nonces[hash] = end
            return true
        }
    }

    /// Keeps what messages said.
    package func keepTexts(_ texts: [EventID: String], of network: NetworkID) async throws {
        try withNetwork(network) { network in
            network.messageTexts.merge(texts) { former, _ in former }
            for event in network.messageTexts.keys.sorted().dropLast(FaceTexts.maximumCount) {
                network.messageTexts[event] = nil
            }
        }
    }

    /// What a message said.
    package func text(of event: EventID, in network: NetworkID) async throws -> String? {
        let now = clock.now()
        return try withNetwork(network) { network in
            let end = Timestamp(milliseconds: event.milliseconds) + FaceTexts.retention
            return now < end ? network.messageTexts[event] : nil
        }
    }
}
