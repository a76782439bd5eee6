package import CarillonCore

extension FCMCredential {
    private static let maximumKeyBytes = 16_384

    /// Reads the body of `PUT /providers/fcm/apps/{appId}`: `{"serviceAccount":{…Google's JSON…}}`.
    ///
    /// Members of Google's JSON that are not needed are passed over, since Google adds some; others are refused.
    /// Where FCM is decides which `token_uri` is taken.
    /// - Throws: `InvalidInput` with every place that is wrong.
    package init(reading document: JSONValue, for server: FCMServer) throws(InvalidInput) {
        if let mistake = Self.anotherFile(document) { throw mistake }
        self = try document.read(as: "invalid-credential") { reader in
            guard var account = reader.object("serviceAccount", required: true, unknown: .tolerate) else { return nil }
            return Self.read(&account, for: server)
        }
    }

    /// What is said of what people take for the key: the app's own file, or the path of the right one.
    private static func anotherFile(_ document: JSONValue) -> InvalidInput? {
        guard case .object(let body) = document else { return nil }
        let pointer = body.contains("serviceAccount") ? "/serviceAccount" : ""
        var inner = body
        switch body["serviceAccount"] {
        case .object(let account)?: inner = account
        case .string(let text)? where text.isPathOfFile:
            return InvalidInput(problem: "invalid-credential", pointer: pointer, detail: .insteadOfPath)
        default: break
        }
        guard inner.contains("project_info"), inner.contains("client") else { return nil }
        return InvalidInput(
            problem: "invalid-credential",
            pointer: pointer,
            detail: "is google-services.json, which belongs into the app: the JSON key of a service account is needed, "
                + "from the Firebase console's Project settings, Service accounts"
        )
    }

    private static func read(_ reader: inout JSONObjectReader, for server: FCMServer) -> FCMCredential? {
        let type = reader.string("type", required: true)
        if let type, type != "service_account" {
            reader.refuse("type", "must be service_account: the JSON key of a service account is needed")
        }
        let project = reader.name("project_id", where: \.isPlainInProjectID)
        let email = reader.name("client_email", where: \.isPlainInEmail)
        let keyID = reader.contains("private_key_id") ? reader.name("private_key_id", where: \.isPlainInProjectID) : nil
        let tokenURI = reader.string("token_uri", required: true, maximumBytes: OutboundURL.maximumBytes)
        if let tokenURI, !server.permits(tokenURI: tokenURI) {
            let own = server == .google ? "" : ", or a URL of \(server.origin)"
            reader.refuse("token_uri", "must be \(FCMServer.googleTokenURI)\(own)")
        }
        guard let key = reader.string("private_key", required: true, maximumBytes: maximumKeyBytes) else { return nil }
        let account = Account(
            clientEmail: email ?? "",
            keyID: keyID,
            tokenURI: tokenURI ?? "",
            privateKey: Secret(key)
        )
        guard let credential = FCMCredential(projectID: project ?? "", account: account) else {
            reader.refuse("private_key", holding: key, "must be an RSA private key of at least 2048 bits in PEM")
            return nil
        }
        return credential
    }

    package var identity: JSONObject {
        ["projectId": .string(projectID), "clientEmail": .string(clientEmail)]
    }

    package var stored: JSONValue {
        [
            "projectId": .string(projectID), "clientEmail": .string(clientEmail),
            "privateKeyId": account.keyID.map(JSONValue.string), "tokenUri": .string(account.tokenURI),
            "privateKey": .string(account.privateKey.reveal { $0 }),
        ]
    }

    /// Whether its `token_uri` is permitted is asked again when it is used: the operator may have changed the server.
    package init(stored: JSONValue) throws(InvalidInput) {
        let errors = InputErrors()
        var reader = JSONObjectReader(stored, unknown: .tolerate, into: errors)
        let project = reader.string("projectId", required: true)
        let email = reader.string("clientEmail", required: true)
        let keyID = reader.string("privateKeyId")
        let tokenURI = reader.string("tokenUri", required: true, maximumBytes: OutboundURL.maximumBytes)
        let key = reader.string("privateKey", required: true, maximumBytes: Self.maximumKeyBytes)
        try errors.throwIfAny(problem: "stored-credential")
        guard let project, let email, let tokenURI, let key,
            let credential = FCMCredential(
                projectID: project,
                account: Account(clientEmail: email, keyID: keyID, tokenURI: tokenURI, privateKey: Secret(key))
            )
        else { throw InvalidInput(problem: "stored-credential", pointer: "", detail: "must be a service account") }
        self = credential
    }
}

extension CredentialFormat {
    /// Service accounts: one for each app, which belongs to a project of Google's. Where FCM is decides which `token_uri` is taken.
    package static func fcm(server: FCMServer = .google) -> CredentialFormat {
        CredentialFormat(.fcm) { (document, _, _, _) throws(InvalidInput) in
            try FCMCredential(reading: document, for: server)
        }
    }
}

extension JSONObjectReader {
    /// A name that becomes a part of a URL or of a token: begins with a letter or digit, holds nothing unusual.
    fileprivate mutating func name(_ key: String, where isPlain: (UInt8) -> Bool) -> String? {
        guard let text = string(key, required: true, maximumBytes: 320, nonEmpty: true) else { return nil }
        guard text.utf8.allSatisfy(isPlain), text.utf8.first?.isASCIIAlphanumeric == true else {
            refuse(key, "holds a character that such a name never has")
            return nil
        }
        return text
    }
}

extension UInt8 {
    /// Projects are `my-project-1`, old ones `example.com:my-project`.
    fileprivate var isPlainInProjectID: Bool { isASCIIAlphanumeric || [UInt8]("-_.:".utf8).contains(self) }

    fileprivate var isPlainInEmail: Bool { isASCIIAlphanumeric || [UInt8]("-_.:@+%".utf8).contains(self) }
}
