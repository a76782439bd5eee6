import CarillonCore
import HTTPTypes
package import Hummingbird

/// Tells addresses to wait from which too much comes that is refused with 401 (API section 2).
///
/// There may be many people behind an address, and what proves something is answered however much does not. Only what
/// would have to be looked up for nobody in particular is refused beforehand: see ``CarillonRequestContext/isSuspect``.
package struct RefusalRateMiddleware: RouterMiddleware {
    private let rates: RequestRates

    package init(rates: RequestRates) {
        self.rates = rates
    }

    package func handle(
        _ request: Request,
        context: CarillonRequestContext,
        next: Next
    ) async throws -> Response {
        guard let address = context.clientAddress else { return try await next(request, context) }
        let owner = RequestRates.Owner.address(address.subscriber)
        var context = context
        context.isSuspect = rates.wait(of: owner, rate: RequestRates.unauthorizedPerSecond) != nil
        do {
            return try await next(request, context)
        } catch {
            let problem = error as? Problem ?? (error as? any FaceError)?.problem
            if problem?.status == .unauthorized {
                try rates.take(from: owner, rate: RequestRates.unauthorizedPerSecond)
            }
            throw error
        }
    }
}
