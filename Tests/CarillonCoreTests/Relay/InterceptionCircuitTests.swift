import Testing

@testable import CarillonCore

@Suite struct InterceptionCircuitTests {
    private let start = ContinuousClock.now

    private func opened() -> InterceptionCircuit {
        var circuit = InterceptionCircuit()
        for _ in 0..<9 { #expect(circuit.failed(asProbe: false, at: start) == nil && !circuit.isOpen) }
        #expect(circuit.failed(asProbe: false, at: start) == .opened)
        return circuit
    }

    @Test func `ten failures in a row open it`() {
        var circuit = InterceptionCircuit()
        for _ in 0..<9 { _ = circuit.failed(asProbe: false, at: start) }
        #expect(circuit.succeeded() == nil && circuit.isClean)
        for _ in 0..<9 { _ = circuit.failed(asProbe: false, at: start) }
        #expect(circuit.admit(at: start) == .asked)
        #expect(circuit.failed(asProbe: false, at: start) == .opened)
        #expect(circuit.admit(at: start) == .refused)
    }

    @Test func `those that were on their way when it opened change nothing`() {
        var circuit = opened()
        for _ in 0..<60 { #expect(circuit.failed(asProbe: false, at: start) == nil) }
        #expect(circuit.admit(at: start + .seconds(29)) == .refused)
        #expect(circuit.admit(at: start + .seconds(30)) == .probing)
    }

    @Test func `one question tries whether it works, after a pause that doubles up to five minutes`() {
        var circuit = opened()
        var now = start
        for pause in [30, 60, 120, 240, 300, 300] {
            #expect(circuit.admit(at: now + .seconds(pause - 1)) == .refused)
            now += .seconds(pause)
            #expect(circuit.admit(at: now) == .probing)
            #expect(circuit.admit(at: now) == .refused, "one at a time")
            #expect(circuit.failed(asProbe: true, at: now) == nil)
        }
        now += .seconds(300)
        #expect(circuit.admit(at: now) == .probing)
        circuit.abandoned(asProbe: true)
        #expect(circuit.admit(at: now) == .probing, "what was not asked proves nothing")
        #expect(circuit.succeeded() == .closed && circuit.isClean)
        #expect(circuit.admit(at: now) == .asked)
    }
}
