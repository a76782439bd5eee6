import CarillonTesting
import Testing

@testable import CarillonCore
@testable import CarillonProviders

/// A push service of which nothing but ``PigeonProvider`` and its declaration knows goes all the way.
@Suite struct PigeonTests {
    private static let app = "com.acme.loft"
    private static let now = Timestamp.seconds(0)

    /// A device's address, read as the API does.
    private func read(_ json: JSONValue, _ errors: InputErrors = InputErrors()) -> DeviceAddress? {
        var reader = JSONObjectReader(json, unknown: .refuse, into: errors)
        defer { reader.finish() }
        return ProviderName.pigeon.kind.address.read(.pigeon, &reader, .trusting)
    }

    /// What comes of a notification to everybody whom these devices belong to.
    private func groups(_ devices: [Device]) throws -> [DeliveryGroup] {
        let direct = DirectNotification(to: .everyone, texts: DirectTexts(.init(title: "Rain", body: "Fly low")))
        let page = RecipientPage(
            settings: NetworkSettings(toggles: .init(), defaultLocale: nil, templates: .init()),
            names: DirectoryNames(),
            recipients: devices.map { Recipient(userID: $0.userID, devices: [$0]) },
            readPoint: ReadPoint("1:1:", moment: Self.now)
        )
        let event = Event(sourceID: "n", type: .notificationDirect, timestamp: Self.now, direct: direct)
        return try Expander(catalog: .english(), ids: UUIDv7Generator()).expand(PendingEvent(event), page).groups
    }

    @Test func `a device is read and written by the declaration alone`() throws {
        let address = try #require(read(["token": "ring-1", "appId": .string(Self.app)]))
        #expect(address == DeviceAddress(.pigeon, "ring-1", appID: Self.app))
        #expect(address.json(isShown: false) == ["provider": "pigeon", "token": "ring-1", "appId": .string(Self.app)])
        #expect(address.json(isShown: true) == ["provider": "pigeon", "appId": .string(Self.app), "token": "…"])
        let errors = InputErrors()
        #expect(read(["token": "", "appId": .string(Self.app), "loft": "north"], errors) == nil)
        #expect(errors.errors.map(\.pointer) == ["/token", "/loft"])
    }

    @Test func `its devices get lanes of their own, and are sent to through its adapter`() async throws {
        let addresses = (0..<3).map { DeviceAddress(.pigeon, "ring-\($0)", appID: Self.app) }
        let devices = (addresses + [.log]).enumerated().map { index, address in
            Device(DeviceID(trusted: "d-\(index)"), of: UserID(trusted: "u-\(index)"), address, at: Self.now)
        }
        let groups = try groups(devices)
        #expect(groups.map(\.lane.provider) == [.pigeon, .log])
        let group = try #require(groups.first)
        #expect(group.lane == Lane(networkID: "acme", provider: .pigeon, appID: Self.app))
        #expect(group.lane.app == Self.app)
        #expect(group.slots == 1)

        let stored = try CredentialFormat.pigeon.read(["grain": "maize"], Self.app, nil, Self.now)
        let credentials = RememberedCredentials { _, app in
            app == stored.appID ? try PigeonCredential(stored) : nil
        }
        let outcomes = await PigeonProvider(credentials: credentials).outcomes(of: group)
        #expect(outcomes == (0..<3).map { .delivered(id: "maize ring-\($0)") })
    }
}
