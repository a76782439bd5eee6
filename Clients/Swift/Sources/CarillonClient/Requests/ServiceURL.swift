import Foundation

/// Where a network's resources are.
struct ServiceURL: Sendable {
    private let base: String
    private let network: String

    init(_ url: URL, network: String) {
        var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        components?.query = nil
        components?.fragment = nil
        let text = components?.string ?? ""
        base = text.hasSuffix("/") ? String(text.dropLast()) : text
        self.network = network
    }

    /// The URL of a resource; `nil` when an id cannot stand in a path, or the service's address is none of HTTP.
    func url(_ path: [String], query: [(String, String)] = []) -> URL? {
        var text = "\(base)/v1/networks"
        for part in [network] + path {
            guard !["", ".", ".."].contains(part) else { return nil }
            text += "/" + part.percentEncoded
        }
        for (index, (name, value)) in query.enumerated() {
            text += (index == 0 ? "?" : "&") + "\(name)=\(value.percentEncoded)"
        }
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()), url.host != nil else {
            return nil
        }
        return url
    }
}

extension String {
    /// Everything but the unreserved characters of RFC 3986, byte by byte: an id with a slash is one part of a path.
    fileprivate var percentEncoded: String {
        let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
        let hex = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in utf8 {
            if unreserved.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
