import CarillonSimulator
import NIOCore

/// Makes notifications as Synapse posts them: of one device each, in the format `event_id_only`, each of an event of its own.
///
/// They come from many addresses, as a proxy in front of the service tells it: one has a limit.
struct MatrixNotifies: LoadSource {
    /// The app of all of them.
    static let appID = "org.example.ios"
    private static let addressCount = 256

    private let pushkeys: [String]
    private let run: String
    /// How many were made.
    private(set) var count = 0

    /// Notifications for some pushkeys in turn. Their ids begin with `run`: those of two runs with equal names are duplicates.
    init(to pushkeys: [String], run: String) {
        self.pushkeys = pushkeys
        self.run = run
    }

    /// New pushkeys: tokens that nobody has registered.
    static func pushkeys(count: Int) -> [String] { (0..<count).map { _ in SimulatedToken.apns() } }

    /// Appends the next one as it is sent.
    mutating func write(to buffer: inout ByteBuffer) {
        count += 1
        let pushkey = pushkeys[count % pushkeys.count]
        let body =
            #"{"notification":{"event_id":"$\#(run)-\#(count):example.org","room_id":"!room\#(count % 500):example.org","#
            + #""prio":"high","counts":{"unread":\#(1 + count % 9)},"devices":[{"app_id":"\#(Self.appID)","#
            + #""pushkey":"\#(pushkey)","pushkey_ts":1735000000,"data":{"format":"event_id_only","#
            + #""default_payload":{"aps":{"mutable-content":1,"alert":{"loc-key":"SINGLE_UNREAD","loc-args":[]}}}},"#
            + #""tweaks":{"sound":"default"}}]}}"#
        buffer.writeString("POST /_matrix/push/v1/notify HTTP/1.1\r\nhost: 127.0.0.1\r\n")
        buffer.writeString(
            "content-type: application/json\r\nx-forwarded-for: 198.51.100.\(count % Self.addressCount)\r\n"
        )
        buffer.writeString("content-length: \(body.utf8.count)\r\n\r\n")
        buffer.writeString(body)
    }
}
