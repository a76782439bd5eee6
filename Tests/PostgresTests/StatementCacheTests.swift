import Testing

@testable import Postgres

@Suite struct StatementCacheTests {
    private var cache = StatementCache(capacity: 2)

    @Test mutating func `gives up what has gone unused the longest`() {
        insert("a", "b")
        #expect(cache.name(for: key("a")) == "a")
        insert("c")
        #expect(cache.name(for: key("b")) == nil)
        #expect(cache.name(for: key("a")) == "a")
        #expect(cache.takeOrphans() == ["b"])
        #expect(cache.takeOrphans() == [])
    }

    @Test mutating func `the same text with other types is another statement`() {
        cache.insert(StatementCache.Key(text: "SELECT $1", types: [20]), name: "int")
        #expect(cache.name(for: StatementCache.Key(text: "SELECT $1", types: [25])) == nil)
    }

    @Test mutating func `never uses a name twice`() {
        var names: Set<String> = []
        for number in 0..<10 {
            let name = cache.makeName()
            names.insert(name)
            cache.insert(key("\(number)"), name: name)
        }
        #expect(names.count == 10)
        #expect(cache.count == 2)
    }

    @Test mutating func `a removed statement is left for deallocation`() {
        insert("a")
        cache.remove(key("a"))
        cache.remove(key("unknown"))
        #expect(cache.takeOrphans() == ["a"])
    }

    @Test mutating func `what the server has forgotten is not deallocated`() {
        insert("a", "b", "c")
        cache.forgetAll()
        #expect(cache.count == 0)
        #expect(cache.takeOrphans() == [])
    }

    private func key(_ text: String) -> StatementCache.Key {
        StatementCache.Key(text: text, types: [])
    }

    private mutating func insert(_ texts: String...) {
        for text in texts { cache.insert(key(text), name: text) }
    }
}
