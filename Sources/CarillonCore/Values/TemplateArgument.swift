/// What a placeholder stands for.
package enum TemplateArgument: Sendable, Hashable, CaseIterable {
    /// The name of the user whom the event is about: who wrote or invited, or the first who joined.
    case user
    case channel
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

package enum TemplatePart: String, Sendable, Hashable {
    case title
    case body
}

extension EventType {
    /// The variants that the title of its templates may have; none where there are no templates.
    package var titleVariants: [TemplateVariant] { notifies ? [.channel, .direct] : [] }
}
