package import CarillonCore

/// Ids may be written as literals in tests; only there, as nothing checks them.
extension Identifier: ExpressibleByStringInterpolation {
    package init(stringLiteral value: String) { self.init(trusted: value) }
}

/// A user's id stands for the cursor behind that user.
extension PageCursor: ExpressibleByStringLiteral {
    /// The cursor behind a user.
    package init(stringLiteral value: String) { self = .user(UserID(trusted: value)) }
}
