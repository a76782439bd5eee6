import Foundation

enum UnixTime {
    static func now() -> Duration { .seconds(Date().timeIntervalSince1970) }
}

extension Duration {
    var wholeSeconds: Int64 { components.seconds }
    var wholeMilliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
