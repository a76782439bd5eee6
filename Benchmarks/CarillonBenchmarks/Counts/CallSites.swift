import Foundation

/// Where calls come from, by what the program's debug information says of their addresses.
enum CallSites {
    /// Calls by folder of the sources, for example `CarillonCore/Flow/Sending`, by package, or by what the compiler made them for, for
    /// example `outlined init with copy of Event`; `sites` has how often each four bytes of the program's code called.
    /// - Throws: ``BenchmarkFailure`` with what a tool said.
    static func calls(of sites: [UInt32], in program: String) async throws -> [String: Int] {
        let called = sites.indices.filter { sites[$0] > 0 }
        // The byte before the one to return to belongs to the call.
        let addresses = called.map { String($0 << 2 - 1, radix: 16) }.joined(separator: "\n")
        let options = ["--addresses", "--inlines", "--functions", "--exe", program]
        let places = try await Tool.output(of: "addr2line", options, reading: addresses).split(separator: "\n0x").map {
            place(of: $0)
        }
        guard places.count == called.count else {
            throw BenchmarkFailure("addr2line told \(places.count) places of \(called.count)")
        }
        let names = Set(places.compactMap(\.symbol)).sorted()
        let list = names.joined(separator: "\n")
        let words = try await Tool.output(of: "swift-demangle", ["--compact", "--simplified"], reading: list)
            .split(separator: "\n")
        let wordsOfName = Dictionary(zip(names, words)) { first, _ in first }
        var counts: [String: Int] = [:]
        for (site, place) in zip(called, places) {
            let name =
                place.folder ?? place.symbol.flatMap { wordsOfName[$0] }.map { String($0) } ?? "nobody knows where"
            counts[name, default: 0] += Int(sites[site])
        }
        return counts
    }

    /// What is told of one address: itself, and then a function and a line for each that was inlined into the next.
    private static func place(of told: Substring) -> (folder: String?, symbol: String?) {
        let lines = told.split(separator: "\n").dropFirst()
        let folder = lines.lazy.compactMap { Self.folder(of: $0) }.first
        return (folder, folder == nil ? lines.dropLast().last.map { String($0) } : nil)
    }

    /// The folder of a line such as `/path/Sources/CarillonCore/Values/Event.swift:12`.
    private static func folder(of line: Substring) -> String? {
        if let package = line.range(of: "/checkouts/") {
            return String(line[package.upperBound...].prefix { $0 != "/" })
        }
        guard let sources = line.range(of: "/Sources/") else { return nil }
        return line[sources.upperBound...].split(separator: "/").dropLast().joined(separator: "/")
    }
}
