/// A named audience (FACES section B2), declared: a subscription needs no declaration.
package struct Tag: Sendable, Equatable {
    package var id: TagID
    /// What it is about, for people.
    package var description: String?
    /// Whether users may subscribe to it themselves.
    package var isSelfService: Bool
    /// When it was declared; `nil` before it is stored.
    package var createdAt: Timestamp?
    /// When it was declared last; `nil` before it is stored.
    package var updatedAt: Timestamp?

    package init(
        id: TagID,
        description: String? = nil,
        isSelfService: Bool = false,
        createdAt: Timestamp? = nil,
        updatedAt: Timestamp? = nil
    ) {
        self.id = id
        self.description = description
        self.isSelfService = isSelfService
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }
}

/// Names one tag inside a network.
package typealias TagID = Identifier<Tag>

/// Who subscribes to tags: a device for itself, or a user for whatever devices they have.
package enum Subscriber: Sendable, Hashable {
    /// One device, for as long as it is its user's.
    case device(DeviceID)
    /// A user's devices of the moment.
    case user(UserID)

    package enum Kind: String, Sendable {
        case device, user
    }

    package init(_ kind: Kind, trusted id: String) {
        switch kind {
        case .device: self = .device(DeviceID(trusted: id))
        case .user: self = .user(UserID(trusted: id))
        }
    }

    package var kind: Kind {
        switch self {
        case .device: .device
        case .user: .user
        }
    }

    /// The id of the device or the user.
    package var id: String {
        switch self {
        case .device(let id): id.rawValue
        case .user(let id): id.rawValue
        }
    }
}

extension Subscriber: Comparable {
    /// Orders devices before users, and either by their ids: the order in which they are listed and locked.
    package static func < (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.device(let left), .device(let right)): left < right
        case (.user(let left), .user(let right)): left < right
        case (.device, .user): true
        case (.user, .device): false
        }
    }
}
