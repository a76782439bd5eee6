/// Lends strings to C as an array of pointers that a null pointer ends.
func withCStrings<Result>(
    _ strings: [String],
    _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
    let characters = strings.map { Array($0.utf8CString) }
    let buffer = characters.flatMap(\.self)
    return buffer.withUnsafeBufferPointer { buffer in
        var offset = 0
        var pointers: [UnsafePointer<CChar>?] = characters.map { string in
            defer { offset += string.count }
            return buffer.baseAddress?.advanced(by: offset)
        }
        pointers.append(nil)
        return body(pointers)
    }
}
