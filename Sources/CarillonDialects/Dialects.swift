package import CarillonCore

/// The dialects that this release reads.
package enum Dialects {
    /// All of them.
    package static let all = DialectName.allCases.map(named)

    /// The one of a name.
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
}
