import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

extension HTTPField.Name {
    fileprivate static let appSecret = known("appSecret")
    fileprivate static let clientSecret = known("clientSecret")
}

/// Whose request it is, and in which application.
struct MobileFirstCaller: Sendable {
    enum Kind: Sendable, Equatable {
        /// A customer's back end, or whoever holds a secret that is good for everything.
        case backEnd
        /// An app whose MobileFirst server has said who uses it, or that nobody has logged in.
        case app(UserID?)
        /// An older app, by a secret that all copies of it hold.
        case olderApp
    }

    let request: Request
    let context: CarillonRequestContext
    let kind: Kind
    let applicationID: String
    let application: MobileFirstApplication
    let network: Network
    let permitted: Set<MobileFirstScope>

    var networkID: NetworkID { network.id }

    var writer: Writer { kind == .backEnd ? .admin : .user }

    var user: UserID? { if case .app(let user) = kind { user } else { nil } }

    func require(_ scope: MobileFirstScope) throws(Problem) {
        guard permitted.contains(scope) else { throw .forbidden("the scope \(scope.rawValue) is needed") }
    }

    /// Whether a device is one that the caller may see and change: an app its user's own and nobody's, and one that nobody has logged
    /// in those of all users only where apps are trusted to say whose they are.
    func mayTouch(_ device: Device) -> Bool {
        switch kind {
        case .backEnd: true
        case _ where device.userID.isNobody: true
        case .app(let user?): device.userID == user
        case .app(nil), .olderApp: network.deviceRegistration == .appKey
        }
    }

    /// Whether the caller is shown a device's token: back ends, and the user whose device it is.
    func maySeeToken(of device: Device) -> Bool {
        kind == .backEnd || !device.userID.isNobody && device.userID == user
    }

    /// Whose a device is to be that is somebody's or nobody's, where a body may name somebody.
    ///
    /// - Throws: 403 when an app names somebody else than its token.
    func owner(_ named: UserID?, former: UserID = .nobody) throws(Problem) -> UserID {
        switch kind {
        case .backEnd: return named ?? former
        case .app(let user?):
            guard named ?? user == user else { throw .forbidden("userId must be the token's user") }
            return user
        case .app(nil), .olderApp:
            // Whoever has such a secret could name anybody, so it is believed only where apps are trusted with that.
            return network.deviceRegistration == .appKey ? named ?? former : former
        }
    }
}

/// Adds routes of an application, for callers who are known and may do what is asked for.
struct MobileFirstRoutes {
    let routes: FaceRoutes
    let authority: MobileFirstAuthority

    /// Adds a route by its path below that of the application, with the scope and the parameters of ``MobileFirstAuthority``.
    func on(
        _ method: HTTPRequest.Method,
        _ path: String,
        as operation: String,
        for scope: MobileFirstScope? = nil,
        query: [String]? = ["locale"],
        readsPages: Bool = false,
        use handler: @escaping @Sendable (MobileFirstCaller) async throws -> Response
    ) {
        let path = RouterPath("/imfpush/v1/apps/{application}" + path)
        routes.on(method, path, as: operation, readsPages: readsPages) { [authority] request, context in
            try await handler(try await authority.caller(request, context, for: scope, query: query))
        }
    }
}

/// Finds out who calls (FACES section H1).
struct MobileFirstAuthority: Sendable {
    private static let acceptable = ["application/json", "application/*", "*/*"]

    let services: Services

    /// The caller, when there is such an application, and they have the scope that is needed; counted against their rate. Other parameters
    /// of the query than `names` are refused, unless that is looked at later.
    /// - Throws: 404 for an application that nobody has bound, 401 for credentials that prove nothing, 403 for those that are good
    ///   for something else.
    func caller(
        _ request: Request,
        _ context: CarillonRequestContext,
        for scope: MobileFirstScope?,
        query names: [String]?
    ) async throws -> MobileFirstCaller {
        try Self.checkAccept(request)
        let id = try context.segment("application")
        let lookup = try await services.faceLookup()
        guard let binding = try lookup.binding(.imfpush, id),
            let application = MobileFirstApplication(binding.settings),
            let network = try await services.network(binding.networkID)
        else { throw Problem.mobileFirst(.notFound, "there is no such application") }
        context.face.note(network: binding.networkID)
        let place = Place(applicationID: id, application: application, index: lookup.known, network: network)
        let (kind, permitted, key) = try identify(request, in: place)
        context.caller.note(.network(network.id))
        let caller = MobileFirstCaller(
            request: request,
            context: context,
            kind: kind,
            applicationID: id,
            application: application,
            network: network,
            permitted: permitted
        )
        if kind == .backEnd {
            try await services.authenticator.beginReading(network.id, context)
        } else {
            try count(caller, key)
        }
        if let scope { try caller.require(scope) }
        if let names { try request.checkQuery(names) }
        return caller
    }

    /// What a caller has to prove that they may do something in.
    private struct Place {
        let applicationID: String
        let application: MobileFirstApplication
        let index: FaceIndex
        let network: Network
    }

    private typealias Identity = (MobileFirstCaller.Kind, Set<MobileFirstScope>, key: String)

    private func identify(_ request: Request, in place: Place) throws(Problem) -> Identity {
        if request.headers[.authorization] != nil {
            return try identify(bearer: try? request.headers.bearerToken(), in: place)
        }
        let headers: [(HTTPField.Name, String, MobileFirstCaller.Kind, Set<MobileFirstScope>)] = [
            (.appSecret, MobileFirstRights.appSecret, .backEnd, Set(MobileFirstScope.allCases)),
            (.clientSecret, MobileFirstRights.clientSecret, .olderApp, MobileFirstScope.ofClientSecrets),
        ]
        for (name, right, kind, permitted) in headers {
            guard let secret = request.headers[name] else { continue }
            guard let stored = place.index.key(.imfpush, secret: secret), stored.key.networkID == place.network.id
            else {
                throw Self.unauthorized("the \(name.rawName) is not valid")
            }
            let rights = MobileFirstRights(stored.key.rights)
            guard rights.scopes.contains(right), !rights.namesApplications || rights.isFor(place.applicationID) else {
                throw .forbidden("the key is not one to send as \(name.rawName) for this application")
            }
            return (kind, permitted, stored.key.name)
        }
        throw Problem.unauthorized("a token of the authorization server is needed")
    }

    private func identify(bearer text: String?, in place: Place) throws(Problem) -> Identity {
        guard let token = text.flatMap(SignedToken.init) else { throw Self.unauthorized("the token is not valid") }
        let now = services.clock.now()
        if let grant = MobileFirstGrant(token, services.faceSecret, at: now) {
            guard let stored = place.index.key(.imfpush, named: grant.client, of: grant.networkID),
                grant.isHeld(by: stored)
            else { throw Self.unauthorized("the key of the token was revoked") }
            guard grant.networkID == place.network.id, grant.rights.isFor(place.applicationID) else {
                throw .forbidden("the token is not for this application")
            }
            return (.backEnd, grant.rights.permitted, grant.client)
        }
        let issuers = place.application.issuers
        guard let issuer = issuers.first(where: { $0.name == token.text("iss") && token.isSigned(by: $0) }),
            token.isCurrent(at: now)
        else { throw Self.unauthorized("the token is not valid") }
        let rights = token.scopes
        guard rights.scopes.contains(MobileFirstRights.mobileClient),
            !rights.namesApplications || rights.isFor(place.applicationID)
        else { throw .forbidden("the scope \(MobileFirstRights.mobileClient) is needed") }
        var user: UserID?
        if token.claims[issuer.userIDClaim] != nil, token.claims[issuer.userIDClaim] != .null {
            // Who cannot be named is not nobody.
            guard let name = token.text(issuer.userIDClaim), let id = UserID(name), !id.isReserved else {
                throw Self.unauthorized("the token's user is none that there can be")
            }
            user = id
        }
        return (.app(user), MobileFirstScope.ofApps, "")
    }

    /// Counts a request against the rate of the app's user, or of the key that all copies of an older app hold.
    private func count(_ caller: MobileFirstCaller, _ key: String) throws(Problem) {
        let limits = caller.network.limits.requestsPerSecond
        switch caller.kind {
        case .backEnd: break
        case .app(let user?): try services.rates.take(from: .user(caller.networkID, user), rate: limits.user)
        case .app(nil), .olderApp:
            let owner = RequestRates.Owner.key(caller.networkID, "imfpush \(caller.applicationID) \(key)")
            try services.rates.take(from: owner, rate: limits.app)
        }
    }

    private static func unauthorized(_ detail: String) -> Problem {
        var problem = Problem.unauthorized(detail)
        problem.headers[.wwwAuthenticate] = #"Bearer error="invalid_token""#
        return problem
    }

    private static func checkAccept(_ request: Request) throws(Problem) {
        guard let accept = request.headers[.accept] else { return }
        let types = accept.split(separator: ",").map { range in
            range.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        }
        guard types.contains(where: acceptable.contains) || types.allSatisfy(\.isEmpty) else {
            throw Problem("not-acceptable", .notAcceptable, "answers are application/json")
        }
    }
}
