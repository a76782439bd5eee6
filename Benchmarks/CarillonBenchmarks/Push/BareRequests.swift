import AsyncHTTPClient
import CarillonCore
import Crypto
import CryptoExtras
import Foundation
import NIOCore
import NIOHTTP1

/// The requests that Carillon would send, of the same size, made beforehand.
struct BareRequests: Sendable {
    /// The simulator that they go to.
    let simulator: SimulatorProcess
    /// What the notification says.
    let text: String

    private static let title = "User 0 (Channel 0)"
    private static let scope = "https://www.googleapis.com/auth/firebase.messaging"

    /// Requests to a push service, one for each address; `client` asks FCM for an access token.
    func make(
        for service: PushService,
        to addresses: [DeviceAddress],
        with client: BareClient
    ) async throws -> [HTTPClientRequest] {
        switch service {
        case .apns: try apns(addresses)
        case .fcm: try await fcm(addresses, client)
        case .webPush: try webPush(addresses)
        }
    }

    private func apns(_ addresses: [DeviceAddress]) throws -> [HTTPClientRequest] {
        let credential = simulator.greeting.apnsCredential
        let key = try P256.Signing.PrivateKey(pemRepresentation: try credential.needed("privateKey"))
        let claims: JSONValue = ["iss": .string(try credential.needed("teamId")), "iat": SignedToken.time()]
        let token = try SignedToken(claims: claims, keyID: try credential.needed("keyId")).text(signedWith: key)
        let origin = try simulator.greeting.url("CARILLON_APNS_PRODUCTION_URL")
        let payload: JSONValue = [
            "aps": [
                "alert": ["title": .string(Self.title), "body": .string(text)], "sound": "default",
                "thread-id": .string(DirectoryLines.channelID(0)),
            ],
            "eventId": .string(UUID().canonicalText), "eventType": "message.sent",
            "networkId": .string(PushRig.networkID), "channelId": .string(DirectoryLines.channelID(0)),
        ]
        let body = ByteBuffer(bytes: payload.serialized)
        return addresses.map { address in
            let id = UUID().canonicalText
            return request(
                "\(origin)/3/device/\(address.text)",
                [
                    ("apns-topic", address.appID), ("apns-push-type", "alert"), ("apns-priority", "10"),
                    ("apns-id", id), ("apns-collapse-id", id), ("apns-expiration", "4000000000"),
                    ("authorization", "bearer \(token)"),
                ],
                body
            )
        }
    }

    private func fcm(_ addresses: [DeviceAddress], _ client: BareClient) async throws -> [HTTPClientRequest] {
        let account = simulator.greeting.fcmCredential["serviceAccount"] ?? .null
        let origin = try simulator.greeting.url("CARILLON_FCM_URL")
        let url = "\(origin)/v1/projects/\(try account.needed("project_id"))/messages:send"
        let headers = [
            ("authorization", "Bearer \(try await accessToken(of: account, client))"),
            ("content-type", "application/json"), ("user-agent", "Carillon/0.0.0"),
        ]
        let event = UUID().canonicalText
        return addresses.map { address in
            let id = UUID().canonicalText
            let message: JSONValue = [
                "message": [
                    "token": .string(address.text),
                    "notification": ["title": .string(Self.title), "body": .string(text)],
                    "data": data(event: event, notification: id),
                    "android": ["priority": "HIGH", "ttl": "86399s", "notification": ["tag": .string(id)]],
                ]
            ]
            return request(url, headers, ByteBuffer(bytes: message.serialized))
        }
    }

    private func accessToken(of account: JSONValue, _ client: BareClient) async throws -> String {
        let key = try _RSA.Signing.PrivateKey(pemRepresentation: try account.needed("private_key"))
        let url = try account.needed("token_uri")
        let claims: JSONValue = [
            "iss": .string(try account.needed("client_email")), "scope": .string(Self.scope), "aud": .string(url),
            "iat": SignedToken.time(), "exp": SignedToken.time(.seconds(3600)),
        ]
        let assertion = try SignedToken(claims: claims).text(signedWith: key)
        let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
        let type = ("content-type", "application/x-www-form-urlencoded")
        let answer = try await client.send(request(url, [type], ByteBuffer(string: form)))
        return try JSONValue(parsing: Array(answer.readableBytesView)).needed("access_token")
    }

    private func webPush(_ addresses: [DeviceAddress]) throws -> [HTTPClientRequest] {
        let key = P256.Signing.PrivateKey()
        let origin = simulator.greeting.webPushURL
        let claims: JSONValue = [
            "aud": .string(origin), "exp": SignedToken.time(.seconds(64_800)), "sub": "mailto:ops@example.com",
        ]
        let token = try SignedToken(claims: claims).text(signedWith: key)
        let authorization = "vapid t=\(token), k=\(Base64URL.encode(key.publicKey.x963Representation))"
        let plaintext = webPushPlaintext.count
        return addresses.map { address in
            let body = (0..<(plaintext + 103)).map { UInt8(truncatingIfNeeded: $0 &* 167) }
            return request(
                address.text,
                [
                    ("authorization", authorization), ("content-encoding", "aes128gcm"),
                    ("content-type", "application/octet-stream"), ("ttl", "86399"), ("urgency", "high"),
                    ("topic", UUID().canonicalText.filter { $0 != "-" }), ("user-agent", "Carillon/0.0.0"),
                ],
                ByteBuffer(bytes: body)
            )
        }
    }

    /// What a browser reads.
    var webPushPlaintext: [UInt8] {
        let id = UUID().canonicalText
        let message: JSONValue = [
            "title": .string(Self.title), "body": .string(text), "tag": .string(id),
            "data": data(event: id, notification: id),
        ]
        return message.serialized
    }

    private func data(event: String, notification: String) -> JSONValue {
        [
            "eventId": .string(event), "eventType": "message.sent", "networkId": .string(PushRig.networkID),
            "channelId": .string(DirectoryLines.channelID(0)), "notificationId": .string(notification),
        ]
    }

    private func request(_ url: String, _ headers: [(String, String)], _ body: ByteBuffer) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers = .init(headers)
        request.body = .bytes(body)
        return request
    }
}

extension JSONValue {
    /// A text that has to be there.
    fileprivate func needed(_ name: String) throws(BenchmarkFailure) -> String {
        guard let text = self[name]?.text else { throw BenchmarkFailure("'\(name)' is missing") }
        return text
    }
}
