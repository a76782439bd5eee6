import CarillonCore

/// The events that Amity has names for and Carillon has templates for.
enum AmityEvent: String, CaseIterable, Sendable {
    case channelCreated = "channel.created"
    case channelJoined = "channel.joined"
    case messageCreated = "message.created"

    var type: EventType {
        switch self {
        case .channelCreated: .channelCreated
        case .channelJoined: .memberJoined
        case .messageCreated: .messageSent
        }
    }

    fileprivate var parameters: [JSONValue] {
        switch self {
        case .channelCreated: ["ChannelName"]
        case .channelJoined: ["UserDisplayName", "ChannelName"]
        case .messageCreated: ["UserDisplayName", "ChannelName", "Message"]
        }
    }
}

/// What an admin changes for everybody. What is not said stays.
struct AmityNetworkChange: Sendable, Equatable {
    static let maximumEntries = 24
    /// The longest template of a body, in characters.
    static let longestBody = 5_000

    struct EventChange: Sendable, Equatable {
        var event: AmityEvent
        /// Where it stands in the body, a JSON Pointer.
        var pointer: String
        var isEnabled: Bool?
        var title: String?
        var body: String?
    }

    var isEnabled: Bool?
    var events: [EventChange] = []

    init(_ body: JSONValue) throws(InvalidInput) {
        self = try body.readForeign { reader in
            var change = Self()
            change.isEnabled = reader.bool("isPushNotifiable")
            change.events = reader.entries(atMost: Self.maximumEntries) { entry in
                let event = entry.choice("name", as: AmityEvent.self, required: true)
                let isEnabled = entry.bool("isPushNotifiable")
                let title = entry.string("titleTemplate", maximumBytes: TemplateSource.maximumTitleBytes)
                let body = entry.string("bodyTemplate", maximumBytes: TemplateSource.maximumBodyBytes)
                if body?.unicodeScalars.count ?? 0 > Self.longestBody {
                    entry.refuse("bodyTemplate", "must be at most \(Self.longestBody) characters")
                }
                return event.map {
                    EventChange(event: $0, pointer: entry.pointer, isEnabled: isEnabled, title: title, body: body)
                }
            }
            return change
        }
    }

    private init() {}

    /// Changes a document; what Amity has no field for stays as it is.
    func apply(to toggles: inout NetworkToggles) {
        toggles.enabled = isEnabled ?? toggles.enabled
        for change in events {
            switch change.isEnabled {
            case true?: toggles.disabledEvents.remove(change.event.type)
            case false?: toggles.disabledEvents.insert(change.event.type)
            case nil: break
            }
        }
    }
}

extension NetworkToggles {
    func amity(_ texts: [AmityEvent: AmityTemplates.Text]) -> JSONValue {
        let events = AmityEvent.allCases.map { event -> JSONValue in
            let text = texts[event] ?? AmityTemplates.Text(title: "", body: "")
            return [
                "name": .string(event.rawValue), "moduleName": "chat",
                "isPushNotifiable": .bool(!disabledEvents.contains(event.type)),
                "titleTemplate": .string(text.title), "bodyTemplate": .string(text.body),
                "parameters": .array(event.parameters),
            ]
        }
        return ["isPushNotifiable": .bool(enabled), "notifiableEvents": .array(events)]
    }
}
