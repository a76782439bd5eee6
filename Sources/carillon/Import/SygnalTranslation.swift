import CarillonCore
import CarillonProviders

/// What an app of Sygnal's becomes: a credential and a binding, and what has no counterpart.
///
/// Pure but for the files that the configuration names, which `read` reads.
struct SygnalTranslation {
    /// A call of the API.
    struct Call: Equatable {
        /// Behind the network's own path.
        var path: String
        var body: JSONObject
        /// The members of the body that are not to be shown, with what is shown in their place.
        var hidden: [String: String] = [:]

        /// The body as it may be shown.
        var shown: JSONValue {
            var shown = body
            for (key, words) in hidden { shown[key] = .string("<\(words)>") }
            return .object(shown)
        }
    }

    struct Outcome: Equatable {
        /// What is to be done, in this order; nothing when the app is left out.
        var calls: [Call] = []
        /// What has no counterpart here, and does not matter or has to be seen to.
        var remarks: [String] = []
        /// Why the app is left out.
        var problem: String?
    }

    private struct LeftOut: Error {
        let words: String

        init(_ words: String) { self.words = words }
    }

    private static let ignored: Set<String> = ["type", "inflight_request_limit", "max_connections"]

    /// The contents of a file; `nil` when it cannot be read.
    let read: (String) -> String?

    func outcome(of app: SygnalFile.App) -> Outcome {
        var outcome = Outcome()
        do throws(LeftOut) {
            guard Identifier<FaceBinding>(app.name) != nil else { throw LeftOut("is no id of 1 to 256 bytes") }
            switch app.type {
            case "apns": try apns(app, &outcome)
            case "gcm": try gcm(app, &outcome)
            case "webpush": try webpush(app, &outcome)
            case "": throw LeftOut("has no type")
            default: throw LeftOut("type \(app.type) is somebody's own pushkin: only apns, gcm and webpush are known")
            }
        } catch {
            outcome.calls = []
            outcome.problem = error.words
        }
        return outcome
    }

    private func apns(_ app: SygnalFile.App, _ outcome: inout Outcome) throws(LeftOut) {
        report(
            app,
            known: [
                "platform", "certfile", "team_id", "key_id", "keyfile", "topic", "push_type",
                "convert_device_token_to_hex",
            ],
            &outcome
        )
        let (topic, credential): (String, Call)
        if let file = app.text("certfile") {
            (topic, credential) = try certificate(file, app)
        } else {
            (topic, credential) = try key(app)
        }
        var binding: JSONObject = ["provider": "apns", "appId": .string(topic)]
        switch app.text("platform") {
        case nil, "production", "prod": binding["environment"] = "production"
        case "sandbox": binding["environment"] = "sandbox"
        case let other?: throw LeftOut("platform \(other) is neither production nor sandbox")
        }
        if app.bool("convert_device_token_to_hex") == false { binding["pushkeyFormat"] = "hex" }
        switch app.text("push_type") {
        case nil, "alert": break
        case "background": binding["pushType"] = "background"
        case let other?: outcome.remarks.append("push_type \(other) has no counterpart: alert is sent")
        }
        outcome.calls = [credential, self.binding(app, binding)]
    }

    private func key(_ app: SygnalFile.App) throws(LeftOut) -> (topic: String, credential: Call) {
        guard let file = app.text("keyfile") else { throw LeftOut("has neither certfile nor keyfile") }
        guard let team = app.text("team_id"), let id = app.text("key_id"), let topic = app.text("topic") else {
            throw LeftOut("a keyfile needs team_id, key_id and topic")
        }
        let call = Call(
            path: "/providers/apns/apps/\(topic.percentEncoded)",
            body: ["teamId": .string(team), "keyId": .string(id), "privateKey": .string(try text(file))],
            hidden: ["privateKey": "what is in \(file)"]
        )
        return (topic, call)
    }

    private func certificate(_ file: String, _ app: SygnalFile.App) throws(LeftOut) -> (topic: String, credential: Call)
    {
        let pem = try text(file)
        let certificates = pem.pemBlocks { $0.hasSuffix("CERTIFICATE") }
        let key = pem.pemBlocks { $0.hasSuffix("PRIVATE KEY") }
        let topics = APNsCredential.topics(ofCertificate: certificates, key: key)
        guard let topic = app.text("topic") ?? topics.first else {
            throw LeftOut("\(file) has no certificate of Apple's with its key, both in PEM")
        }
        let call = Call(
            path: "/providers/apns/apps/\(topic.percentEncoded)",
            body: ["certificate": .string(certificates), "privateKey": .string(key)],
            hidden: ["certificate": "what is in \(file)", "privateKey": "what is in \(file)"]
        )
        return (topic, call)
    }

    private func gcm(_ app: SygnalFile.App, _ outcome: inout Outcome) throws(LeftOut) {
        report(app, known: ["api_key", "api_version", "project_id", "service_account_file", "fcm_options"], &outcome)
        guard app.text("api_version") == "v1" else {
            throw LeftOut(
                "Google ended its legacy API: make a service account, and set api_version v1 and service_account_file"
            )
        }
        guard let file = app.text("service_account_file") else { throw LeftOut("has no service_account_file") }
        guard let account = try? JSONValue(parsing: try text(file)), case .object(let members) = account else {
            throw LeftOut("\(file) is no service account: Google gives it out as JSON")
        }
        if let project = app.text("project_id"), members["project_id"] != .some(.string(project)) {
            outcome.remarks.append("project_id is not the one of \(file), which counts")
        }
        if app.keys.contains("fcm_options") {
            outcome.remarks.append(
                "fcm_options are not taken over: the app's default_payload and the binding say what is sent"
            )
        }
        let appID = app.stem.isEmpty ? members["project_id"]?.text ?? "" : app.stem
        let credential = Call(
            path: "/providers/fcm/apps/\(appID.percentEncoded)",
            body: ["serviceAccount": account],
            hidden: ["serviceAccount": "what is in \(file)"]
        )
        outcome.calls = [credential, binding(app, ["provider": "fcm", "appId": .string(appID)])]
    }

    private func webpush(_ app: SygnalFile.App, _ outcome: inout Outcome) throws(LeftOut) {
        report(app, known: ["vapid_private_key", "vapid_contact_email", "allowed_endpoints", "ttl"], &outcome)
        guard let file = app.text("vapid_private_key") else { throw LeftOut("has no vapid_private_key") }
        guard let address = app.text("vapid_contact_email") else { throw LeftOut("has no vapid_contact_email") }
        let credential = Call(
            path: "/providers/webpush",
            body: ["subject": .string("mailto:\(address)"), "privateKey": .string(try text(file))],
            hidden: ["privateKey": "what is in \(file)"]
        )
        var binding: JSONObject = [
            "provider": "webpush", "ttlSeconds": JSONValue.number(JSONNumber(app.int("ttl") ?? 900)),
        ]
        if let patterns = app.texts("allowed_endpoints"), !patterns.isEmpty {
            let taken = patterns.compactMap(WebPushHosts.pattern)
            for pattern in patterns where WebPushHosts.pattern(pattern) == nil {
                outcome.remarks.append(
                    "allowed_endpoints: \(pattern) is no host and no *. with one behind it; it is left out"
                )
            }
            binding["allowedEndpoints"] = .array(taken.map(JSONValue.string))
        } else {
            // Sygnal calls whatever a client names.
            binding["allowedEndpoints"] = ["default"]
            outcome.remarks.append("without allowed_endpoints the push services of the usual browsers are allowed")
        }
        outcome.calls = [credential, self.binding(app, binding)]
    }

    private func binding(_ app: SygnalFile.App, _ settings: JSONObject) -> Call {
        Call(path: "/faces/matrix/\(app.name.percentEncoded)", body: settings)
    }

    private func report(_ app: SygnalFile.App, known: Set<String>, _ outcome: inout Outcome) {
        for key in app.keys where !known.contains(key) && !Self.ignored.contains(key) {
            outcome.remarks.append("\(key) is not known, and not taken over")
        }
    }

    private func text(_ file: String) throws(LeftOut) -> String {
        guard let text = read(file) else { throw LeftOut("\(file) cannot be read") }
        return text
    }
}

extension SygnalFile.App {
    /// The id without wildcards.
    fileprivate var stem: String {
        guard name.contains(where: { $0 == "*" || $0 == "?" }) else { return name }
        return name.split { "*?.".contains($0) }.joined(separator: ".")
    }
}

extension String {
    /// The blocks of a text in PEM whose labels are meant (RFC 7468).
    fileprivate func pemBlocks(where isMeant: (Substring) -> Bool) -> String {
        var blocks: [Substring] = []
        var isInside = false
        for line in split(whereSeparator: \.isNewline) {
            if line.hasPrefix("-----BEGIN "), line.hasSuffix("-----") {
                isInside = isMeant(line.dropFirst("-----BEGIN ".count).dropLast("-----".count))
            }
            if isInside { blocks.append(line) }
            if line.hasPrefix("-----END ") { isInside = false }
        }
        return blocks.map { $0 + "\n" }.joined()
    }
}
