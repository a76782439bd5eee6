import NIOCore
import Testing

@testable import CarillonSimulator

@Suite struct BehaviourTests {
    private enum Expected: Equatable {
        case accepted, refusal(String), unknown(Int), fault(Fault)
    }

    private func expected<Refusal>(_ behaviour: Behaviour<Refusal>, _ name: (Refusal) -> String) -> Expected {
        switch behaviour.outcome {
        case nil: .accepted
        case .refusal(let refusal): .refusal(name(refusal))
        case .unknown(let status): .unknown(status)
        case .fault(let fault): .fault(fault)
        }
    }

    @Test(arguments: [
        "device-1", "", "unregistered1", "un", "after-ms-x", "after-123456ms-hang", "status-abc-x", "status--1-x",
        "Unregistered-1", "x-unregistered-1",
    ])
    func `words that are not quite right mean nothing`(token: String) {
        let behaviour = Behaviour<FCMRefusal>(words: token)
        #expect(expected(behaviour, \.rawValue) == .accepted)
        #expect(behaviour.delay == .zero)
        #expect(!behaviour.isOnce)
    }

    @Test func `the longest word counts`() {
        let refusals = FCMRefusal.allCases.map(\.rawValue)
        for refusal in refusals {
            for token in [refusal, "\(refusal)-1:x"] {
                #expect(expected(Behaviour<FCMRefusal>(words: token), \.rawValue) == .refusal(refusal))
            }
        }
        for fault in Fault.allCases {
            #expect(expected(Behaviour<FCMRefusal>(words: "\(fault.rawValue)-1"), \.rawValue) == .fault(fault))
            #expect(!refusals.contains(fault.rawValue))
        }
    }

    @Test func `words add up`() {
        let behaviour = Behaviour<FCMRefusal>(words: "after-50ms-once-unavailable-1")
        #expect(behaviour.delay == .milliseconds(50))
        #expect(behaviour.isOnce)
        #expect(expected(behaviour, \.rawValue) == .refusal("unavailable"))
        #expect(expected(Behaviour<FCMRefusal>(words: "status-418-x"), \.rawValue) == .unknown(418))
    }

    @Test(arguments: ["1234", "fa11", "fa1141", "fa11410", "fa114100", "fa11abc02", "de1a1234", "fa1100199", "0ce"])
    func `markers that are not quite right mean nothing`(token: String) {
        let behaviour = Behaviour<APNsRefusal>(hexadecimal: token, now: .zero)
        #expect(expected(behaviour, \.reason.rawValue) == .accepted)
        #expect(behaviour.delay == .zero)
    }

    @Test func `markers add up`() {
        for reason in APNsReason.allCases {
            let token = "de1a000500ce1" + reason.tokenPrefix + "00"
            let behaviour = Behaviour<APNsRefusal>(hexadecimal: token, now: .zero)
            #expect(behaviour.delay == .milliseconds(50))
            #expect(behaviour.isOnce)
            #expect(expected(behaviour, \.reason.rawValue) == .refusal(reason.rawValue))
        }
        for fault in Fault.allCases {
            let behaviour = Behaviour<APNsRefusal>(hexadecimal: fault.apnsTokenPrefix, now: .zero)
            #expect(expected(behaviour, \.reason.rawValue) == .fault(fault))
        }
    }

    @Test func `new tokens ask for nothing but what they were made for`() {
        for _ in 0..<1000 {
            let behaviour = Behaviour<APNsRefusal>(hexadecimal: SimulatedToken.apns(), now: .zero)
            #expect(expected(behaviour, \.reason.rawValue) == .accepted)
        }
        #expect(SimulatedToken.apns("fa11").utf8.count == 64)
        #expect(Set((0..<100).map { _ in SimulatedToken.fcm("gone") }).count == 100)
    }
}
