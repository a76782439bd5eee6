import CarillonCore
import Testing

@testable import carillon

@Suite struct FaceChecksTests {
    private static let network = NetworkID(trusted: "acme")

    private static func findings(_ settings: JSONObject, face: FaceName = .matrix, name: String = "a") -> [String] {
        let binding = FaceBinding(
            face: face,
            externalID: name,
            networkID: network,
            settings: settings,
            updatedAt: Timestamp(milliseconds: 1)
        )
        let apps: Set = [FaceApp(provider: .apns, appID: "known"), FaceApp(provider: .fcm, appID: "android")]
        return FaceChecks.findings(of: [binding], apps: [network: apps]).dropLast().map {
            "\($0.subject): \($0.detail)"
        }
    }

    @Test(
        arguments: [
            (["provider": "apns", "appId": "com.acme"], "apns credential for com.acme"),
            (["provider": "fcm", "appId": "known"], "fcm credential for known"),
            (["provider": "apns"], "apns credential for a"),
            (["ios": ["appId": "known"], "android": ["appId": "other"]], "fcm credential for other"),
            (["A": ["appId": "other"]], "apns credential for other"),
        ] as [(JSONObject, String)]
    )
    func `an app that nobody has a credential for is named`(settings: JSONObject, missing: String) {
        let findings = Self.findings(settings)
        #expect(findings == ["face acme/matrix/a: there is no \(missing), so nothing is sent: PUT one"])
    }

    @Test(
        arguments: [
            ["provider": "apns", "appId": "known"], ["provider": "webpush"], ["provider": "apns", "retired": true], [:],
            ["ios": ["appId": "known"], "android": ["appId": "android"]],
        ] as [JSONObject]
    )
    func `what has a credential, or needs none, is well`(settings: JSONObject) {
        #expect(Self.findings(settings).isEmpty)
    }

    @Test func `a pattern without an app is no app`() {
        #expect(Self.findings(["provider": "apns"], name: "com.acme.*").isEmpty)
    }

    @Test func `how many are well is said in one line`() {
        #expect(FaceChecks.findings(of: [], apps: [:]) == [.ok("faces", "no network has a name in another system")])
    }
}
