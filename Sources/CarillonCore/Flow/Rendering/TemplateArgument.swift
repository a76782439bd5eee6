/// What a placeholder stands for.
enum TemplateArgument: Sendable, Hashable, CaseIterable {
    /// The name of the user whom the event is about: who wrote or invited, or the first who joined.
    case user
    /// The name of the channel.
    case channel
    /// The words of the message.
    case message
    /// How many joined besides the first.
    case furtherJoiners

    /// The name that `{{…}}` knows it by; `nil` where it only has a position.
    var name: String? {
        switch self {
        case .user: "UserDisplayName"
        case .channel: "ChannelName"
        case .message: "Message"
        case .furtherJoiners: nil
        }
    }
}

/// The two texts of a template.
enum TemplatePart: String, Sendable, Hashable {
    /// The one line on top.
    case title
    /// The text below it.
    case body
}

extension EventType {
    /// The variants that this part of its templates may have.
    func variants(of part: TemplatePart) -> [TemplateVariant] {
        switch part {
        case .title: titleVariants
        case .body: templateVariants
        }
    }

    /// The arguments by position: `%1s` is the first. Empty for events that have no templates.
    func templateArguments(in part: TemplatePart) -> [TemplateArgument] {
        switch (self, part) {
        case (.channelCreated, _): [.channel]
        case (.memberJoined, _): [.user, .channel, .furtherJoiners]
        case (.channelInvited, _): [.user, .channel]
        case (.messageSent, .title): [.user, .channel]
        case (.messageSent, .body): [.message]
        case (.channelDeleted, _), (.channelUpdated, _), (.memberLeft, _), (.messageDeleted, _),
            (.notificationDirect, _),
            (.userDeleted, _), (.userUpdated, _), (.other, _):
            []
        }
    }

    /// The arguments by name, which title and body may use alike, whatever their positions are.
    var namedTemplateArguments: [TemplateArgument] {
        let all = Set(templateArguments(in: .title) + templateArguments(in: .body))
        return TemplateArgument.allCases.filter { $0.name != nil && all.contains($0) }
    }
}
