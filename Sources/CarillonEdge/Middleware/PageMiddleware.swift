package import Hummingbird

/// Marks requests that read pages: as soon as it is known for whom they do, they wait for one of that network's permits. They run on a
/// thread of their own.
struct PageMiddleware: RouterMiddleware {
    /// One for all: a second one would take another processor from everybody else.
    private static let thread = PageThread()

    func handle(
        _ request: Request,
        context: CarillonRequestContext,
        next: Next
    ) async throws -> Response {
        var context = context
        let hold = PageHold()
        context.pageHold = hold
        defer { hold.end() }
        return try await withTaskExecutorPreference(Self.thread) { [context] in try await next(request, context) }
    }
}

extension Router<CarillonRequestContext> {
    /// Where routes are added that read pages: see ``PageSemaphore``.
    package var pages: RouterGroup<CarillonRequestContext> { group().add(middleware: PageMiddleware()) }
}
