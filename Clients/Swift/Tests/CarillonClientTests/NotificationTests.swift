import CarillonClient
import Foundation
import Testing

/// What arrives on APNs, as the service sends it.
@Suite struct NotificationTests {
    private func notification(_ payload: String) throws -> CarillonNotification? {
        let json = try JSONSerialization.jsonObject(with: Data(payload.utf8))
        return CarillonNotification(userInfo: try #require(json as? [AnyHashable: Any]))
    }

    @Test func `a message names its channel, itself and its sender`() throws {
        let message = try #require(
            try notification(
                """
                {"aps":{"alert":{"title":"Alice (General)","body":"Hello"},"sound":"default","thread-id":"general"},"eventId":"e-1",\
                "eventType":"message.sent","networkId":"acme","channelId":"general","messageId":"m-1","senderId":"alice"}
                """
            )
        )
        #expect(message.eventType == .messageSent)
        #expect([message.eventID, message.networkID] == ["e-1", "acme"])
        #expect([message.channelID, message.messageID, message.senderID] == ["general", "m-1", "alice"])
        #expect(message.imageURL == nil)
    }

    @Test func `a direct notification may have a picture and no channel`() throws {
        let direct = try #require(
            try notification(
                """
                {"aps":{"mutable-content":1},"eventId":"e-2","eventType":"notification.direct","networkId":"acme",\
                "imageUrl":"https://acme.example/81.png"}
                """
            )
        )
        #expect(direct.eventType == .direct)
        #expect(direct.channelID == nil && direct.messageID == nil)
        #expect(direct.imageURL?.absoluteString == "https://acme.example/81.png")
    }

    @Test func `types of a later service are read`() throws {
        let later = try notification(#"{"eventId":"e","eventType":"poll.opened","networkId":"acme"}"#)
        #expect(later?.eventType.rawValue == "poll.opened")
    }

    @Test(arguments: [
        "{}", #"{"aps":{"alert":"x"}}"#, #"{"eventId":7,"eventType":"x","networkId":"acme"}"#,
        #"{"eventId":"e","networkId":"acme"}"#,
    ])
    func `what others send is none of Carillon's`(payload: String) throws {
        #expect(try notification(payload) == nil)
    }
}
