/// What all of Carillon but its adapter has to know of a provider. Whoever would ask which provider it is asks this instead.
package struct ProviderKind: Sendable {
    /// What a lane of it is, within a network.
    package enum Lanes: Sendable {
        /// An app. A push service knows each by a credential of its own.
        case byApp
        /// The server of a URL: a slow one must delay only its own devices.
        case byHost
        case single
    }

    /// What the API and the database call it.
    let name: String
    let address: AddressForm
    package let lanes: Lanes
    /// Whether it is a push service. An address there is one installation's; a connection carries many requests; nothing is sent without
    /// a credential, of the app or of the network; and apps can have a raw part written. Anything else is sent to servers that admins
    /// name, who alone may.
    package var isPushService = true
    /// Whether its reports of devices as gone are believed, however many: no credential can be wrong (API section 9).
    var isBelieved = false
    /// Whether addresses that differ in capitals are one.
    var ignoresCase = false
    /// Whether what is silent can arrive so: browsers show something for whatever they are sent.
    var takesSilent = true
    /// What is written for it alone.
    var rawPart = RawPartForm()

    package func lets(header name: String) -> Bool { rawPart.headers[name.lowercased()] != nil }
}

/// What a raw part for one push service may say (FACES B1).
struct RawPartForm: Sendable {
    /// What its body is called.
    var payloadKey = "payload"
    /// Members of the body that say where it goes, and are ours.
    var reserved: [String] = []
    /// The headers that it may set, in lower case, with what they may be: what a push service would refuse is an error of whoever wrote
    /// it, and would stop others' deliveries only later.
    var headers: [String: HeaderForm] = [:]
    /// Where in the body stands what a device shows.
    var visible: [[String]] = []
    /// Whether apps show something by themselves of a body that replaces what is built.
    var isShownByApps = false

    /// Whether a device shows something of a part that is built without words.
    func shows(_ part: RawPart) -> Bool {
        isShownByApps && part.replaces
            || visible.contains { path in JSONValue.object(part.payload).has(path[...]) }
    }
}

extension JSONValue {
    /// Whether there is something at a place.
    fileprivate func has(_ path: ArraySlice<String>) -> Bool {
        guard let key = path.first else { return self != .null }
        guard case .object(let object) = self, let member = object[key] else { return false }
        return member.has(path.dropFirst())
    }
}
