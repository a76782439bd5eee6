package enum SimulatorError: Error, Equatable, CustomStringConvertible {
    /// Fewer notifications arrived in time than were waited for.
    case timedOut(expected: Int, received: Int)
    case cannotListen(SimulatedService, port: Int, reason: String)
    case cannotWrite(path: String)

    package var description: String {
        switch self {
        case .timedOut(let expected, let received): "expected \(expected) notifications, received \(received)"
        case .cannotListen(let service, let port, let reason): "\(service.rawValue) cannot use port \(port): \(reason)"
        case .cannotWrite(let path): "cannot write \(path)"
        }
    }
}
