package import CarillonCore

private let morning = Timestamp(milliseconds: 1_795_168_800_000)

extension Timestamp {
    /// So many seconds after a fixed moment in the past.
    package static func seconds(_ count: Int64) -> Timestamp { morning + .seconds(count) }
}
