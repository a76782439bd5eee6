import CarillonCore
import CarillonTesting
import Foundation
import HTTPTypes
import Testing

@testable import CarillonEdge
@testable import CarillonHTTP

/// The console's files (CONSOLE section 1).
@Suite struct ConsoleTests {
    /// A folder with a console in it, which goes with the test.
    private final class Folder: Sendable {
        let path = NSTemporaryDirectory() + "console-\(UUID().uuidString)"

        init(_ files: [String: String] = ["index.html": "<!doctype html>", "core/app.js": "export {}"]) throws {
            for (name, text) in files {
                let file = URL(fileURLWithPath: "\(path)/\(name)")
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(),
                    withIntermediateDirectories: true
                )
                try Data(text.utf8).write(to: file)
            }
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    private func withConsole(
        _ files: [String: String]? = nil,
        _ test: @Sendable (TestAPI) async throws -> Void
    ) async throws {
        let folder = try files.map(Folder.init) ?? Folder()
        try await withAPI(console: try ConsoleFiles(directory: folder.path), test)
    }

    @Test func `every page's address answers the document, under a policy that lets in nothing foreign`() async throws {
        try await withConsole { api in
            for path in ["/console", "/console/", "/console/acme/overview", "/console/acme/people/bob%2Fsmith?x=1"] {
                let answer = try await api.call(.get, path)
                #expect(answer.status == 200)
                #expect(answer.text == "<!doctype html>")
                #expect(answer.headers[.contentType] == "text/html; charset=utf-8")
                #expect(
                    answer.headers[.contentSecurityPolicy]
                        == """
                        default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; \
                        form-action 'none'
                        """
                )
                #expect(answer.headers[.xContentTypeOptions] == "nosniff")
                #expect(answer.headers[.known("referrer-policy")] == "no-referrer")
            }
        }
    }

    @Test func `browsers that ask for nothing in particular are sent to the console`() async throws {
        let browser = ["accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"]
        try await withConsole { api in
            let answer = try await api.call(.get, "/", headers: browser)
            #expect(answer.status == 303)
            #expect(answer.headers[.location] == "/console")
            #expect(try await api.call(.get, "/", headers: ["accept": "*/*"]).status == 404)
            #expect(try await api.call(.get, "/").status == 404)
            #expect(try await api.call(.post, "/", headers: browser).status == 404)
        }
        try await withAPI { api in
            let answer = try await api.call(.get, "/", headers: browser)
            #expect(answer.status == 404, "there is none")
        }
    }

    @Test func `a file has its kind and a tag, by which who has it is told so`() async throws {
        try await withConsole { api in
            let answer = try await api.call(.get, "/console/core/app.js")
            #expect(answer.text == "export {}")
            #expect(answer.headers[.contentType] == "text/javascript; charset=utf-8")
            let tag = try #require(answer.headers[.eTag])
            let again = try await api.call(.get, "/console/core/app.js", headers: ["if-none-match": "W/\(tag), \"x\""])
            #expect(again.status == 304 && again.bytes.isEmpty)
            #expect(again.headers[.eTag] == tag)
            #expect(again.headers[.contentSecurityPolicy] != nil)
        }
    }

    @Test func `a file that is missing is 404, unless a reader goes to a page of that name`() async throws {
        try await withConsole { api in
            for path in ["/console/core/none.js", "/console/../openapi.js", "/console/acme/people/bob.js"] {
                let answer = try await api.call(.get, path)
                #expect(answer.problem == "not-found")
            }
            let page = "/console/acme/people/bob.js"
            let answer = try await api.call(.get, page, headers: ["accept": "text/html,*/*;q=0.8"])
            #expect(answer.status == 200)
        }
    }

    @Test func `it is only read`() async throws {
        try await withConsole { api in
            for path in ["/console", "/console/core/app.js"] {
                #expect(try await api.call(.head, path).bytes.isEmpty)
                let answer = try await api.call(.post, path, "{}")
                #expect(answer.status == 405)
                #expect(answer.headers[.allow] == "GET, HEAD")
            }
        }
    }

    @Test(.api) func `without a console there is none`() async throws {
        let api: TestAPI = lent()
        for path in ["/console", "/console/acme/overview"] {
            let answer = try await api.call(.get, path)
            #expect(answer.status == 404)
        }
    }

    @Test(arguments: [
        (["app.js": ""], "has no index.html"),
        (["index.html": "", "a.js": String(repeating: " ", count: 1_048_577)], "must have at most 1048576 bytes"),
    ])
    func `a folder that is no console is refused`(files: [String: String], reason: String) throws {
        let folder = try Folder(files)
        let error = #expect(throws: ConsoleFilesError.self) { try ConsoleFiles(directory: folder.path) }
        #expect(error?.description.contains(reason) == true)
    }

    @Test func `what a console does not have is passed over`() throws {
        let folder = try Folder(["index.html": "", "notes.md": "", ".secret.js": "", ".git/a.js": "", "a.svg": ""])
        let files = try ConsoleFiles(directory: folder.path)
        #expect(files.file(at: "a.svg") != nil)
        #expect([".secret.js", "notes.md", ".git/a.js"].allSatisfy { files.file(at: $0) == nil })
    }
}
