extension JSONValue {
    /// The value that a pointer leads to (RFC 6901); `nil` when there is none, or when it is no pointer.
    package func value(at pointer: String) -> JSONValue? {
        guard let steps = JSONPointer.steps(of: pointer) else { return nil }
        return steps.reduce(self) { value, step in
            switch value {
            case .object(let object)?:
                return object[step]
            case .array(let elements)?:
                // No leading zeros, which would make two pointers of one.
                guard let index = Int(step), index >= 0, String(index) == step, index < elements.count else {
                    return nil
                }
                return elements[index]
            case .null?, .bool?, .number?, .string?, nil:
                return nil
            }
        }
    }
}

extension JSONPointer {
    /// The names and indices of a pointer; `nil` for what is none.
    static func steps(of pointer: String) -> [String]? {
        guard !pointer.isEmpty else { return [] }
        guard pointer.utf8.first == UInt8(ascii: "/") else { return nil }
        var steps: [String] = []
        for part in pointer.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            var step: [UInt8] = []
            var isEscaped = false
            for byte in part {
                switch (isEscaped, byte) {
                case (true, UInt8(ascii: "0")): step.append(UInt8(ascii: "~"))
                case (true, UInt8(ascii: "1")): step.append(UInt8(ascii: "/"))
                case (true, _): return nil
                case (false, UInt8(ascii: "~")): break
                case (false, _): step.append(byte)
                }
                isEscaped = !isEscaped && byte == UInt8(ascii: "~")
            }
            guard !isEscaped else { return nil }
            steps.append(String(decoding: step, as: UTF8.self))
        }
        return steps
    }
}
