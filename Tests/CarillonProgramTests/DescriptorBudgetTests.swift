import Testing

@testable import carillon

@Suite struct DescriptorBudgetTests {
    @Test(arguments: [256, 1_000, 1_024, 4_096, 65_536, 1_048_576, Int.max], [1, 2, 16])
    func `what everybody may have together leaves a reserve`(limit: Int, loops: Int) throws {
        let budget = try DescriptorBudget(limit: limit, loops: loops)
        let places = [
            budget.publicConnections, budget.managementConnections, budget.webConnections, budget.apnsConnections,
            budget.fcmConnections,
        ]
        #expect(places.allSatisfy { $0 >= 6 })
        #expect(budget.lookups >= 4)
        #expect(budget.relayConnections >= 4)
        #expect(budget.introspectionConnections >= 2)
        let others = budget.lookups + budget.relayConnections + budget.introspectionConnections
        #expect(places.reduce(others, +) <= limit - 96)
    }

    @Test func `a large limit is not a reason to take connections that memory has no room for`() throws {
        let budget = try DescriptorBudget(limit: 1_048_576, loops: 2)
        #expect(budget.publicConnections + budget.managementConnections == 8_192)
        let connections = [
            budget.webConnections, budget.relayConnections, budget.apnsConnections, budget.fcmConnections,
            budget.introspectionConnections,
        ]
        #expect(connections.reduce(budget.lookups, +) == 4_096)
    }

    @Test func `below 2,000 the operator is told`() throws {
        #expect(try DescriptorBudget(limit: 2_000, loops: 2).concern == nil)
        let concern = try #require(try DescriptorBudget(limit: 1_999, loops: 2).concern)
        #expect(concern.contains("1999") && concern.contains("2000"))
    }

    @Test(arguments: [(65_536, Finding.Verdict.ok), (1_024, .warn), (64, .fail)])
    func `doctor speaks up when there are few`(limit: Int, verdict: Finding.Verdict) {
        #expect(FileChecks.descriptors(limit: limit).verdict == verdict)
    }

    @Test func `a limit that is too small to work with stops the start`() {
        let error = #expect(throws: StartError.self) { try DescriptorBudget(limit: 64, loops: 2) }
        #expect(error.map { "\($0)".contains("64") && "\($0)".contains("172") } == true)
    }
}
