/// The name of a provider: our adapter for one push service, or for endpoints. Each is a constant, beside its declaration in `Providers/`.
///
/// As small as a pointer, and nothing is counted when it is copied: each device and each group has one.
package struct ProviderName: RawRepresentable, CaseIterable, Sendable, Hashable, Comparable {
    private final class Declaration: Sendable {
        let kind: ProviderKind

        init(_ kind: ProviderKind) { self.kind = kind }
    }

    /// Those that devices are reached by.
    package static let allCases: [ProviderName] = [.apns, .fcm, .log, .webhook, .webpush]
    private static let all = allCases + [.relay]

    /// Kept for ever.
    private let declaration: Unmanaged<Declaration>

    /// The name, a constant, of what is declared so.
    init(_ kind: ProviderKind) { declaration = .passRetained(Declaration(kind)) }

    package init?(rawValue: String) {
        guard let known = Self.all.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = known
    }

    package var rawValue: String { kind.name }

    package var kind: ProviderKind { declaration._withUnsafeGuaranteedRef { $0.kind } }

    package static func == (left: Self, right: Self) -> Bool {
        left.declaration.toOpaque() == right.declaration.toOpaque()
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(declaration.toOpaque()) }

    /// Alphabetical, for stable lists.
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
