/// A value with many references in it that is handed on and seldom changed: a copy of the box is one reference, and a change makes
/// another box where somebody else has this one.
@propertyWrapper
package struct Boxed<Value: Sendable>: Sendable {
    @usableFromInline
    package final class Box: @unchecked Sendable {
        /// Changed only where one wrapper alone refers to it, whose own access is exclusive.
        @exclusivity(unchecked) @usableFromInline
        package var value: Value

        @inlinable
        package init(_ value: Value) {
            self.value = value
        }
    }

    @usableFromInline
    package var box: Box

    @inlinable
    package init(wrappedValue: Value) {
        box = Box(wrappedValue)
    }

    @inlinable
    package var wrappedValue: Value {
        _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }
}

extension Boxed: Equatable where Value: Equatable {
    package static func == (left: Self, right: Self) -> Bool {
        left.box === right.box || left.box.value == right.box.value
    }
}
