import CarillonCore
import HTTPTypes
import HummingbirdTesting
import NIOCore

@testable import CarillonFaces

/// An answer with its body read, in whichever form it came.
struct FaceAnswer {
    let status: Int
    let headers: HTTPFields
    let bytes: [UInt8]
    let json: JSONValue?

    init(_ response: TestResponse) {
        status = response.status.code
        headers = response.headers
        bytes = Array(response.body.readableBytesView)
        json =
            response.headers[.contentType] == "application/x-msgpack"
            ? try? MessagePackReader.value(of: bytes) : try? JSONValue(parsing: bytes)
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The value at a path of member names and indices.
    subscript(path: String...) -> JSONValue? { value(at: path) }

    /// A text at a path.
    func string(_ path: String...) -> String? {
        guard case .string(let text)? = value(at: path) else { return nil }
        return text
    }

    private func value(at path: [String]) -> JSONValue? {
        path.reduce(json) { value, step in
            switch value {
            case .object(let object)?: object[step]
            case .array(let elements)?: Int(step).flatMap { elements.dropFirst($0).first }
            default: nil
            }
        }
    }
}
