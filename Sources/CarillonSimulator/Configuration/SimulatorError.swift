/// Why a simulator did not do what it was asked for.
package enum SimulatorError: Error, Equatable, CustomStringConvertible {
    /// Fewer notifications arrived in time than were waited for.
    case timedOut(expected: Int, received: Int)
    /// A service could not listen.
    case cannotListen(SimulatedService, port: Int, reason: String)
    /// A generated file could not be written.
    case cannotWrite(path: String)

    /// What happened, in one line.
    package var description: String {
        switch self {
        case .timedOut(let expected, let received): "expected \(expected) notifications, received \(received)"
        case .cannotListen(let service, let port, let reason): "\(service.rawValue) cannot use port \(port): \(reason)"
        case .cannotWrite(let path): "cannot write \(path)"
        }
    }
}
