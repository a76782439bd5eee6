import ArgumentParser
import CarillonCore
import CarillonStore
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

@Suite struct DiscardPendingCommandTests {
    @Test(arguments: [
        (["--network", ".."], "--network is a network's id"), (["--before", "yesterday"], "--before is a time"),
        (["--before", "2026-11-24"], "--before is a time"),
    ])
    func `what cannot be meant is refused before anything is looked at`(arguments: [String], words: String) {
        #expect {
            _ = try Carillon.parseAsRoot(["discard-pending"] + arguments)
        } throws: { error in
            Carillon.fullMessage(for: error).contains(words)
        }
    }

    @Test func `how much waits is said in words, and of what is not there nothing`() throws {
        var counts = PendingWork.Counts()
        #expect(counts.lines.isEmpty && counts.span.isEmpty)
        (counts.devices, counts.messages, counts.replays) = (1, 2, 1)
        let moment = try #require(Timestamp(rfc3339: "2026-11-24T03:00:00Z"))
        counts.accepted = moment...moment
        #expect(counts.lines == ["1 notification to a device", "2 messages to endpoints", "1 replay for an endpoint"])
        #expect(counts.span == ", of an event accepted at 2026-11-24T03:00:00.000Z")
        counts.events = 1
        counts.accepted = moment...(moment + .seconds(60))
        #expect(counts.lines.first == "1 event whose recipients were still to be found")
        #expect(counts.span == ", of events accepted from 2026-11-24T03:00:00.000Z to 2026-11-24T03:01:00.000Z")
    }
}

@Suite struct CompletionsTests {
    @Test(arguments: CompletionsCommand.Shell.allCases)
    func `every shell's script completes the program by its name, with all of its verbs`(
        shell: CompletionsCommand.Shell
    ) throws {
        let parsed = try Carillon.parseAsRoot(["completions", shell.rawValue])
        let script = try #require(parsed as? CompletionsCommand).script
        let line: String =
            switch shell {
            case .bash: "complete -o filenames -F _carillon carillon"
            case .zsh: "#compdef carillon"
            case .fish: "complete -c 'carillon'"
            }
        #expect(script.contains(line), "\(script.prefix(400))")
        let verbs = [
            "serve", "migrate", "doctor", "simulate", "demo", "import-sygnal", "token", "discard-pending",
            "completions",
        ]
        for verb in verbs {
            #expect(script.contains(verb), "\(verb)")
        }
    }

    @Test func `a shell without completions is refused with those that have some`() {
        #expect {
            _ = try Carillon.parseAsRoot(["completions", "tcsh"])
        } throws: { error in
            let message = Carillon.fullMessage(for: error)
            return CompletionsCommand.Shell.allCases.allSatisfy { message.contains($0.rawValue) }
        }
    }
}

@Suite struct HelpTests {
    @Test(arguments: [
        (["help", "bogus"], "bogus"), (["help", "network", "bogus"], "bogus"), (["help", "network", "move"], nil),
        (["help", "doctor"], nil), (["help"], nil), (["help", "--help"], nil), (["bogus"], nil),
    ])
    func `help for what is no command is a mistake`(arguments: [String], topic: String?) {
        #expect(Carillon.unknownTopic(in: arguments) == topic)
    }
}

@Suite struct UnknownNameTests {
    private let known = Setting.allCases.map(\.variable)

    @Test(
        arguments: [
            ("CARILLON_DATABSE_URL", "CARILLON_DATABASE_URL"), ("CARILLON_LISTENER", "CARILLON_LISTEN"),
            ("CARILLON_LOGLEVEL", "CARILLON_LOG_LEVEL"), ("CARILLON_OPERATOR_TOKN", "CARILLON_OPERATOR_TOKEN"),
        ]
    )
    func `what was probably meant is named`(name: String, meant: String) {
        #expect(ConfigurationError.unknown(name, among: known) == "\(name) is unknown; did you mean \(meant)?")
    }

    @Test func `a name of any length is dealt with`() {
        let name = "CARILLON_" + String(repeating: "X", count: 100_000)
        #expect(ConfigurationError.unknown(name, among: known).contains("known are"))
    }

    @Test func `variables and names in files belong together`() {
        #expect(Setting.extraCaFile.variable == "CARILLON_EXTRA_CA_FILE")
        #expect(Setting.apnsProductionUrl.variable == "CARILLON_APNS_PRODUCTION_URL")
        for setting in Setting.allCases { #expect(Setting(variable: setting.variable) == setting) }
    }
}

@Suite struct TokenCommandTests {
    @Test(arguments: [("90s", 90), ("15m", 900), ("1h", 3_600), ("1d", 86_400)])
    func `takes a time as people write it`(text: String, seconds: Int) throws {
        let parsed = try Carillon.parseAsRoot(["token", "--network", "acme", "--user", "bob", "--for", text])
        #expect(try #require(parsed as? TokenCommand).lifetime?.seconds == seconds)
    }

    @Test(arguments: ["", "h", "1", "0s", "-1h", "1 h", "1w", "2d", "86401s", "9223372036854775807d"])
    func `refuses what is no time`(text: String) {
        #expect(throws: (any Error).self) {
            _ = try Carillon.parseAsRoot(["token", "--network", "acme", "--user", "bob", "--for", text])
        }
    }

    @Test func `speaks for users only`() {
        #expect(throws: (any Error).self) {
            _ = try Carillon.parseAsRoot(["token", "--network", "acme", "--user", "me"])
        }
    }
}

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
