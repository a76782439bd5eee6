import Testing

@testable import carillon

@Suite struct ListenAddressTests {
    @Test(
        arguments: [
            ("127.0.0.1:8080", "127.0.0.1", 8080), ("[::1]:0", "::1", 0), ("0.0.0.0:65535", "0.0.0.0", 65535),
            ("localhost:80", "localhost", 80), ("[::]:1", "::", 1), ("my-host.example:9090", "my-host.example", 9090),
        ]
    )
    func `reads host and port, and writes them as they were`(text: String, host: String, port: Int) throws {
        let address = try ListenAddress(text)
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(address.description == text)
    }

    @Test(
        arguments: [
            "", ":", "8080", ":8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1",
            "127.0.0.1: 80", "::1:80", "[127.0.0.1]:80", "[::1]", "[]:80", "a b:80", "http://h:80", "ä:80", "h:٨٠",
        ]
    )
    func `refuses everything else`(text: String) {
        #expect(throws: InvalidSetting.self) { try ListenAddress(text) }
    }
}
