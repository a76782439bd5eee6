public import Foundation

extension CarillonClient {
    /// When the user wants not to be disturbed, each day. What would have come then does not come later.
    public struct QuietHours: Sendable, Hashable {
        /// A time of the day. The service refuses what no clock shows.
        public struct Time: Sendable, Hashable {
            /// 0 to 23.
            public var hour: Int
            /// 0 to 59.
            public var minute: Int

            /// A time of the day.
            ///
            /// - Parameters:
            ///   - hour: 0 to 23.
            ///   - minute: 0 to 59.
            public init(hour: Int, minute: Int = 0) {
                self.hour = hour
                self.minute = minute
            }

            /// The time as the API writes it.
            var text: String {
                [hour, minute].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
            }
        }

        /// When they begin.
        public var from: Time
        /// When they end; earlier than ``from`` means the next day.
        public var to: Time
        /// The name of the time zone, such as `Asia/Bangkok`.
        public var timeZone: String

        /// Quiet hours.
        ///
        /// - Parameters:
        ///   - from: When they begin.
        ///   - to: When they end. The two must differ.
        ///   - timeZone: Where the clock hangs.
        public init(from: Time, to: Time, timeZone: TimeZone = .current) {
            self.from = from
            self.to = to
            self.timeZone = timeZone.identifier
        }

        /// The body of a request.
        var json: JSON {
            .object(["from": .string(from.text), "to": .string(to.text), "timeZone": .string(timeZone)])
        }
    }
}

extension CarillonClient.QuietHours: Decodable {}

extension CarillonClient.QuietHours.Time: Decodable {
    /// Reads `22:00`.
    ///
    /// - Parameter decoder: Where it is read from.
    /// - Throws: When it is something else.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let parts = try container.decode(String.self).split(separator: ":").map { Int($0) }
        guard parts.count == 2, let hour = parts[0], let minute = parts[1] else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a time of the day")
        }
        self.init(hour: hour, minute: minute)
    }
}
