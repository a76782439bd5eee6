import HTTPTypes

extension CarillonClient {
    /// Says that a device belongs to the signed-in user from now on, and to nobody else.
    ///
    /// Call this whenever the app has started and somebody is signed in: tokens change, and the service learns by it that the app
    /// is still in use. The last registration wins: the device leaves its former user, and the token the device that had it.
    ///
    /// - Parameters:
    ///   - registration: Where the device can be reached.
    ///   - id: The device's id, which the app makes once for an installation and keeps.
    ///   - user: Whose device it is, where the token is an API key; a user token says so itself.
    /// - Returns: The device as the service knows it.
    /// - Throws: ``CarillonError``; ``CarillonError/Code/deviceTaken`` when the id is in use by another user, at another address.
    @discardableResult
    public func register(_ registration: Registration, as id: String, for user: String? = nil) async throws -> Device {
        let body = registration.body(for: user)
        return try await requester.value(.init(method: .put, path: ["devices", id], body: body))
    }

    /// Says that a device gets nothing any more, whoever owns it.
    ///
    /// With an app key that is so while nobody is signed in, too. Without one the user's token is sent, and nothing happens to
    /// other users' devices.
    ///
    /// - Parameter id: The device's id.
    /// - Throws: ``CarillonError``. That there is no such device is no error.
    public func unregister(_ id: String) async throws {
        try await requester.perform(.init(method: .delete, path: ["devices", id], caller: .app))
    }

    /// Says that a device gets nothing any more, if it belongs to a user.
    ///
    /// A sign-out that reaches the service late does no harm then: when somebody else has signed in meanwhile, nothing happens.
    ///
    /// - Parameters:
    ///   - id: The device's id.
    ///   - user: Whose device it has to be.
    /// - Throws: ``CarillonError``. That it is somebody else's device, or none, is no error; without an app key it is
    ///   ``CarillonError/Code/forbidden`` to name another user.
    public func unregister(_ id: String, onlyFor user: String) async throws {
        try await requester.perform(
            .init(method: .delete, path: ["devices", id], query: [("userId", user)], caller: .app)
        )
    }

    /// All devices of the signed-in user.
    ///
    /// - Returns: The devices, in the order of their ids.
    /// - Throws: ``CarillonError``.
    public func devices() async throws -> [Device] {
        try await requester.list(["users", "me", "devices"])
    }

    /// One device of the signed-in user.
    ///
    /// - Parameter id: The device's id.
    /// - Returns: The device.
    /// - Throws: ``CarillonError``; ``CarillonError/Code/notFound`` for other users' devices as well.
    public func device(_ id: String) async throws -> Device {
        try await requester.value(.init(method: .get, path: ["devices", id]))
    }

    /// The network's public key, with which browsers subscribe to Web Push.
    ///
    /// - Returns: What `pushManager.subscribe` takes as `applicationServerKey`.
    /// - Throws: ``CarillonError``.
    public func webPushKey() async throws -> String {
        struct Key: Decodable { let publicKey: String }
        let key: Key = try await requester.value(
            .init(method: .get, path: ["providers", "webpush", "key"], caller: .app)
        )
        return key.publicKey
    }
}
