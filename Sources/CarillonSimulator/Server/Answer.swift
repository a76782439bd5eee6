import NIOCore
import NIOHPACK

struct Answer {
    var headers: HPACKHeaders
    var body: ByteBuffer?

    init(_ status: Int, headers: [(String, String)] = []) {
        self.headers = HPACKHeaders([(":status", String(status))] + headers)
    }

    init(_ status: Int, headers: [(String, String)] = [], json: String) {
        self.init(status, headers: headers, type: "application/json; charset=UTF-8", text: json)
    }

    init(_ status: Int, headers: [(String, String)] = [], type: String, text: String) {
        self.init(status, headers: headers + [("content-type", type), ("content-length", String(text.utf8.count))])
        body = ByteBuffer(string: text)
    }

    /// A text that will be broken off: its length is not told.
    init(_ status: Int, type: String, partOfText text: String) {
        self.init(status, headers: [("content-type", type)])
        body = ByteBuffer(string: text)
    }

    /// `nil` when the headers carry none that is a number.
    var status: Int? { headers.first(name: ":status").flatMap { Int($0) } }
}
