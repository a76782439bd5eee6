import Foundation
import Testing

@testable import EmbeddedPostgres

@Suite struct ServerFilesTests {
    @Test func `reads what a server writes about itself`() throws {
        let text = "4711\n/data\n1700000000\n5432\n/data/run\n\n  5432001         0\nready   \n"
        let file = try #require(PostmasterFile(parsing: text))
        #expect(file.processID == 4711)
        #expect(file.dataDirectory == "/data")
        #expect(file.isReady)
    }

    @Test func `a server that recovers says that it starts`() throws {
        let text = "4711\n/data\n1\n5432\n/run\n\n1 0\n"
        for (state, isStarting) in [("starting\n", true), ("stopping\n", false), ("ready   \n", false), ("", false)] {
            #expect(try #require(PostmasterFile(parsing: text + state)).isStarting == isStarting)
        }
    }

    @Test(arguments: ["4711\n/data\n", "4711\n/data\n1\n5432\n/run\n\n1 0\nstarting\n", "4711\n/data\n1\n5432"])
    func `a server that starts is not ready`(text: String) throws {
        #expect(try #require(PostmasterFile(parsing: text)).isReady == false)
    }

    @Test(arguments: ["", "\n", "x\n/data\n", "-1\n/data\n", "0\n/data\n", "4711"])
    func `a file that is no pid file is none`(text: String) {
        #expect(PostmasterFile(parsing: text) == nil)
    }

    @Test func `a process that works elsewhere is not the server`() throws {
        let processID = ProcessInfo.processInfo.processIdentifier
        let file = try #require(PostmasterFile(parsing: "\(processID)\n/nonexistent\n"))
        #expect(file.isInUse)
        #expect(!file.isAlive)
    }

    @Test(arguments: [
        ("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n", "15"), ("postgres (PostgreSQL) 18beta1\n", "18"),
        ("postgres (PostgreSQL) 17.0\n", "17"), ("nonsense", nil), ("", nil),
    ])
    func `reads the version of the server`(output: String, version: String?) {
        #expect(ServerBinaries.majorVersion(in: output) == version)
    }

    @Test(arguments: [("/a/b", "/a/b"), ("/a//b/", "/a/b"), ("/a/./b/../c", "/a/c"), ("/..", "/"), ("/", "/")])
    func `paths are made absolute`(path: String, absolute: String) {
        #expect(FileSystem.absolute(path) == absolute)
    }

    @Test func `relative paths start at the working directory`() {
        #expect(FileSystem.absolute("a/../b") == FileManager.default.currentDirectoryPath + "/b")
    }

    @Test func `a log that has grown too large is emptied, its end kept`() async throws {
        try await withTemporaryPath { path in
            let log = ServerLog(path: path)
            try FileSystem.write(String(repeating: "x", count: ServerLog.limit) + "the end", to: path)
            try log.trim()
            #expect(FileSystem.attributes(of: path)?.size == 0)
            let kept = FileSystem.contents(of: path + ".old", limit: 1 << 20)
            #expect(kept?.hasSuffix("the end") == true)
            try FileSystem.remove(path + ".old")
        }
    }

    @Test func `a log of moderate size is left as it is`() async throws {
        try await withTemporaryPath { path in
            let log = ServerLog(path: path)
            try FileSystem.write("line\n", to: path)
            try log.trim()
            #expect(log.tail() == "line\n")
        }
    }

    @Test(
        arguments: [
            (65534, 0o700, true), (65534, 0o600, false), (65534, 0o077, false),
            (0, 0o710, true), (0, 0o701, false), (0, 0o755, true),
        ] as [(uid_t, mode_t, Bool)]
    )
    func `the owner's bits decide for the owner, the group's for a member`(
        owner: uid_t,
        permissions: mode_t,
        canEnter: Bool
    ) {
        let account = ServerAccount(name: "nobody", userID: 65534, groupID: 65534)
        let directory = FileSystem.Attributes(
            owner: owner,
            group: 65534,
            permissions: permissions,
            isDirectory: true,
            size: 0
        )
        #expect(account.canEnter(directory) == canEnter)
    }
}
