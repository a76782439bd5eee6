import Logging
import Synchronization

/// What people do to lanes.
extension Dispatcher {
    /// A credential was stored or removed: what waited for it is tried at once.
    ///
    /// - Parameters:
    ///   - network: The network.
    ///   - provider: The provider.
    ///   - appID: The app; `nil` when the credential is for all lanes of the provider.
    package func credentialChanged(in network: NetworkID, provider: ProviderName, appID: String?) async {
        credentialChanges.withLock { $0.note(network, provider, appID: appID, at: .now) }
        let formers = await reopen(in: network, provider: provider, appID: appID)
        // Reports that may have come of the former credential, however few they were.
        let now = clock.now()
        for former in formers {
            guard let span = former.span else { continue }
            lateBrakes.withLock { $0.note(former.lane, since: now - span, at: .now) }
        }
    }

    /// The same credential was stored once more, maybe since it works again: what waits for its lanes is tried at once.
    ///
    /// - Parameters:
    ///   - network: The network.
    ///   - provider: The provider.
    ///   - appID: The app; `nil` when the credential is for all lanes of the provider.
    package func credentialConfirmed(in network: NetworkID, provider: ProviderName, appID: String?) async {
        await resume(in: network, provider: provider, appID: appID)
    }

    /// Believes a lane's provider until a moment when it reports devices as gone, however many they are.
    ///
    /// Other replicas learn of it within ten seconds, and then try again what they held meanwhile.
    /// - Throws: What the queue throws.
    package func releaseBrake(of lane: Lane, until end: Timestamp) async throws {
        try await queue.releaseBrake(of: lane, until: end)
        brakes.withLock { $0.release(lane, at: .now) }
        logger.notice("The brake on unregistrations is let go", metadata: ["lane": "\(lane)", "until": "\(end)"])
        lateBrakes.withLock { $0.forget([lane]) }
        await reopen(lane)
    }

    /// Learns which brakes were let go, by whichever replica, or are on again; forgets lanes that are not used any more.
    func tendLanes() async {
        let now = ContinuousClock.now
        lanes.withLock { $0.prune(at: now) }
        brakes.withLock { $0.prune(at: now) }
        _ = await learnReleasedBrakes()
    }

    /// Takes devices back into use that were put out of use before the brake of their lane went on, or its credential changed.
    func undoUnregistrations(at now: ContinuousClock.Instant = .now) async {
        let due = lateBrakes.withLock { $0.takeDue(at: now) }
        // Somebody may have let it go in another replica.
        guard !due.isEmpty, await learnReleasedBrakes() else {
            lateBrakes.withLock { late in for (lane, since) in due { late.note(lane, since: since, at: .now) } }
            return
        }
        for (lane, since) in due where !brakes.withLock({ $0.isReleased(lane) }) {
            do {
                let count = try await devices.restoreDevices(
                    lane.provider,
                    appID: lane.appID,
                    // The database has written down when by its own clock.
                    since: since - .seconds(60),
                    until: clock.now() + .seconds(60),
                    in: lane.networkID
                )
                guard count > 0 else { continue }
                logger.notice(
                    "Devices that were unregistered by doubtful reports are used again",
                    metadata: ["lane": "\(lane)", "devices": "\(count)"]
                )
            } catch {
                lateBrakes.withLock { $0.note(lane, since: since, at: .now) }
                logger.debug("Could not take devices back into use", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Learns which brakes are let go, and begins anew with the lanes of which that is news; `false` when it is not known.
    private func learnReleasedBrakes() async -> Bool {
        do {
            let stored = try await queue.releasedBrakes()
            let news = brakes.withLock { $0.learn(released: stored, at: .now) }
            lateBrakes.withLock { $0.forget(news) }
            for lane in news { await reopen(lane) }
            return true
        } catch {
            logger.debug("Could not read which brakes are let go", metadata: ["error": "\(error)"])
            return false
        }
    }

    /// Tells that brakes went off.
    func tellOff(_ lanes: [Lane]) {
        for lane in lanes {
            logger.notice("Reports of devices as gone are believed again", metadata: ["lane": "\(lane)"])
        }
    }

    private func reopen(_ lane: Lane) async {
        _ = await reopen(in: lane.networkID, provider: lane.provider, appID: lane.appID)
    }

    private func reopen(
        in network: NetworkID,
        provider: ProviderName,
        appID: String?
    ) async -> [UnregistrationBrakes.Former] {
        let formers = brakes.withLock {
            $0.reset(where: { $0.isMeant(by: network, provider, appID) }, at: .now)
        }
        tellOff(formers.filter(\.wasOn).map(\.lane))
        await resume(in: network, provider: provider, appID: appID)
        return formers
    }

    private func resume(in network: NetworkID, provider: ProviderName, appID: String?) async {
        lanes.withLock { $0.reopen(where: { $0.isMeant(by: network, provider, appID) }) }
        do {
            try await queue.makeDue(provider, appID: appID, in: network)
        } catch {
            logger.debug("What waits stays until its time comes", metadata: ["error": "\(error)"])
        }
        poll()
    }
}

extension Lane {
    /// Whether it is the one of an app or, without `appID`, one of all of a provider.
    fileprivate func isMeant(by network: NetworkID, _ provider: ProviderName, _ appID: String?) -> Bool {
        networkID == network && self.provider == provider && appID ?? self.appID == self.appID
    }
}
