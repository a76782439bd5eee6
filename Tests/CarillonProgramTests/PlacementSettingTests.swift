import CarillonCore
import CarillonTesting
import Foundation
import Testing

@testable import carillon

@Suite struct PlacementSettingTests {
    private func settings(_ placements: String, _ more: [String: String] = [:]) throws -> Settings {
        let environment = ["CARILLON_DATABASE_URL": "postgres://home/carillon", "CARILLON_PLACEMENTS": placements]
        return try Settings(environment: environment.merging(more) { $1 }, for: .database)
    }

    private func mistake(_ placements: String) throws -> String {
        try #require(throws: ConfigurationError.self) { try settings(placements) }.mistakes.joined()
    }

    @Test func `placements are names and URLs with blanks between them`() throws {
        let read = try settings("p1=postgres://one/a  two-2=postgres://x:y@two/b?options=-c%20search_path%3Dc")
        #expect(read.placementNames.map(\.rawValue) == ["default", "p1", "two-2"])
        #expect(try read.placements(named: "p1").map(\.rawValue) == ["p1"])
        #expect(throws: StartError.self) { try read.placements(named: "p3") }
        #expect(read.poolSize == nil)
        #expect(try settings("p1=postgres://one/a", ["CARILLON_POOL_SIZE": "2"]).poolSize == 2)
        for size in ["1", "65", "many", "-3"] {
            #expect(throws: ConfigurationError.self) {
                try settings("p1=postgres://one/a", ["CARILLON_POOL_SIZE": size])
            }
        }
    }

    @Test func `what is wrong is told without what may be a password`() throws {
        let wrong = [
            "p1", "postgres://u:hunter2@h/d", "default=postgres://u:hunter2@h/d", "P1=postgres://u:hunter2@h/d",
            "p_1=postgres://u:hunter2@h/d", "p1=mysql://u:hunter2@h/d", "p1=postgres://u:hunter2@h:1x/d",
            "p1=postgres://u:hunter2@h:65536/d", "p1=postgres://u:hunter2@h/d?coordinator=c:1x",
            "p1=postgres://u:hunter2@h/d p1=postgres://u:hunter2@h/e", "p1=", "p1=postgres://",
            "p1=postgres://h/d,p2=postgres://u:hunter2@h/e", "p1=postgres://h/d, p2=postgres://u:hunter2@h/e",
        ]
        for text in wrong {
            let told = try mistake(text)
            #expect(told.contains("CARILLON_PLACEMENTS") && !told.contains("hunter2"), "\(told)")
        }
    }

    @Test func `the embedded server has one placement`() throws {
        let error = try #require(throws: ConfigurationError.self) {
            try Settings(environment: ["CARILLON_PLACEMENTS": "p1=postgres://one/a"])
        }
        #expect(error.mistakes.joined().contains("CARILLON_DATABASE_URL"))
    }

    @Test func `the list is found as it was written, and nothing else is taken for one`() throws {
        let scratch = try ScratchDirectory()
        defer { scratch.remove() }
        let file = PlacementFile(dataDirectory: "\(scratch.path)/data")
        #expect(file.read() == nil)
        let list = PlacementList(version: 9, placements: ["acme": .home, "a \"b\" ü": PlacementName("p1") ?? .home])
        file.write(list, TestDatabase.logger)
        #expect(file.read()?.placements == list.placements)
        for text in ["", "[]", #"{"networks":{"acme":"P1"}}"#, #"{"networks":{"acme":1}}"#] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(scratch.path)/data/placements.json"))
            #expect(file.read() == nil)
        }
    }
}
