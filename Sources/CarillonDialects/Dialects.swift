package import CarillonCore

package enum Dialects {
    package static let all = DialectName.allCases.map(named)

    package static func named(_ name: DialectName) -> any EventDialect {
        switch name {
        case .amity: AmityDialect()
        case .cloudevents: CloudEventsDialect()
        case .cometchat: CometChatDialect()
        case .matrix: MatrixDialect()
        case .mattermost: MattermostDialect()
        case .rocketchat: RocketChatDialect()
        case .sendbird: SendbirdDialect()
        case .stream: StreamDialect()
        case .talkjs: TalkJSDialect()
        }
    }

    /// Whether an event was read from another backend's webhook, by the id that its sender has for it.
    package static func haveRead(sourceID: String) -> Bool { SourceID.isMadeHere(sourceID) }
}
