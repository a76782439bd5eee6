/// Another chat backend's webhooks, as it sends them (DIALECTS). The raw values are in the API, in metrics and in the database.
package enum DialectName: String, Sendable, CaseIterable, Hashable {
    /// Amity Social Cloud, by its newer name social.plus.
    case amity
    /// CloudEvents 1.0 over HTTP, and Twilio's Event Streams, which are some.
    case cloudevents
    case cometchat
    /// Matrix, for an application service.
    case matrix
    /// Mattermost's outgoing webhooks.
    case mattermost
    /// Rocket.Chat's outgoing integrations.
    case rocketchat
    case sendbird
    /// GetStream's Chat.
    case stream
    case talkjs
}
