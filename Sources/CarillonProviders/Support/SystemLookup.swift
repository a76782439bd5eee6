package import CarillonCore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Asks the system (`/etc/hosts`, the name servers) for all addresses of a name, in the order in which to try them.
///
/// Blocks for as long as the system's resolver is configured to wait, usually up to some ten seconds.
/// - Throws: ``OutboundError``.
/// - SeeAlso: `getaddrinfo(3)`, RFC 6724.
package func systemLookup(_ name: String) throws -> [IPAddress] {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_flags = AI_ADDRCONFIG
    #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #else
        hints.ai_socktype = SOCK_STREAM
    #endif
    var list: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(name, nil, &hints, &list)
    guard status == 0 else {
        throw status == EAI_NONAME ? OutboundError.nameNotFound : OutboundError.lookupFailed
    }
    defer { freeaddrinfo(list) }
    return try sequence(first: list) { $0?.pointee.ai_next }
        .prefix { $0 != nil }
        .compactMap { try $0.map { try address(of: $0.pointee) } }
}

private func address(of entry: addrinfo) throws -> IPAddress {
    var text = [CChar](repeating: 0, count: 64)
    let length = socklen_t(text.count)
    guard getnameinfo(entry.ai_addr, entry.ai_addrlen, &text, length, nil, 0, NI_NUMERICHOST) == 0 else {
        throw OutboundError.lookupFailed
    }
    // A link-local address comes with its zone.
    let end = text.firstIndex { $0 == 0 || $0 == CChar(UInt8(ascii: "%")) } ?? text.endIndex
    guard let address = IPAddress(String(decoding: text[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self)) else {
        throw OutboundError.lookupFailed
    }
    return address
}
