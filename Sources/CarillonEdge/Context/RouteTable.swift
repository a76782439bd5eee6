import HTTPTypes
import Hummingbird

/// Knows which methods each path supports, for the difference between 404 and 405.
struct RouteTable: Sendable {
    private let routes: [(path: RouterPath, methods: Set<HTTPRequest.Method>)]

    /// The table of a router's routes. Where there is GET there is HEAD.
    init(_ router: Router<CarillonRequestContext>) {
        var methods: [String: (path: RouterPath, methods: Set<HTTPRequest.Method>)] = [:]
        for route in router.routes {
            methods[route.path.description, default: (route.path, [])].methods.insert(route.method)
        }
        routes = methods.values.map { path, methods in
            (path, methods.contains(.get) ? methods.union([.head]) : methods)
        }
    }

    /// The methods of whatever resource has this path; empty when none has.
    func methods(for path: String) -> [HTTPRequest.Method] {
        let segments = path.split(separator: "/", omittingEmptySubsequences: true)
        var matching = routes.filter { route in
            route.path.count == segments.count && zip(route.path, segments).allSatisfy { $0 ~= $1 }
        }
        // Where a path says a segment itself, the router does not look at those that take any.
        for index in segments.indices {
            let exact = matching.filter { $0.path.description.split(separator: "/")[index] == segments[index] }
            if !exact.isEmpty { matching = exact }
        }
        return Set(matching.flatMap(\.methods)).sorted { $0.rawValue < $1.rawValue }
    }
}
