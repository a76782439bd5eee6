import CarillonCore
import Foundation
import Testing

@testable import carillon

@Suite struct GeneratedSecretsTests {
    private func withDirectory(_ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    @Test func `a secret is made once, for its owner only, and fits its setting`() throws {
        try withDirectory { directory in
            let files = GeneratedSecrets(dataDirectory: directory)
            for file in [files.operatorToken, files.masterKey] {
                let first = try file.load()
                let second = try file.load()
                #expect(first.isNew && !second.isNew)
                #expect(first.text == second.text)
                #expect(file.strangersPermissions == 0)
            }
            #expect(throws: Never.self) { try Secret(operatorToken: files.operatorToken.load().text) }
            #expect(throws: Never.self) { try MasterKey(files.masterKey.load().text) }
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: directory).sorted() == [
                    "master-key", "operator-token",
                ]
            )
        }
    }

    @Test func `two directories have different secrets`() throws {
        try withDirectory { first in
            try withDirectory { second in
                let tokens = try [first, second].map {
                    try GeneratedSecrets(dataDirectory: $0).operatorToken.load().text
                }
                #expect(tokens[0] != tokens[1])
            }
        }
    }

    @Test func `many at once agree on one secret`() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<16 {
                group.addTask { try GeneratedSecrets(dataDirectory: path).masterKey.load().text }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(texts.count == 1)
    }

    @Test func `a file that others can read is noticed`() throws {
        try withDirectory { directory in
            let file = GeneratedSecrets(dataDirectory: directory).operatorToken
            _ = try file.load()
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
            #expect(file.strangersPermissions == 0o044)
        }
    }

    @Test func `a directory that is not there is an error that names the file`() throws {
        let file = GeneratedSecrets(dataDirectory: "/nowhere").masterKey
        let error = try #require(throws: ConfigurationError.self) { try file.load() }
        #expect(error.description.contains("/nowhere/master-key"))
    }
}
