import Foundation
import Testing

@testable import carillon

@Suite struct VersionTests {
    private static let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func `the changelog's newest release is the program's version`() throws {
        let changelog = try String(contentsOf: Self.checkout.appendingPathComponent("CHANGELOG.md"), encoding: .utf8)
        let release = try #require(changelog.split(separator: "\n").first { $0.hasPrefix("## ") })
        #expect(release.hasPrefix("## [\(Release.version)]"), "\(release)")
    }

    @Test func `the version of a release is three numbers, from which packages take their names`() {
        let numbers = Release.version.split(separator: ".", omittingEmptySubsequences: false)
        #expect(numbers.count == 3 && numbers.allSatisfy { Int($0) != nil }, "\(Release.version)")
    }
}
