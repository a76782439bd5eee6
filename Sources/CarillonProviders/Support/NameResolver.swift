package import CarillonCore
import NIOCore
import NIOPosix
import Synchronization

/// Looks up host names on threads of its own, since the system's resolver blocks for as long as it likes.
///
/// Requests for the same name at the same time share one lookup. Nothing is remembered: connections are, and those go to
/// addresses that were checked.
package final class NameResolver: Sendable {
    /// Finds all addresses of a name, blocking; throws ``OutboundError``.
    package typealias Lookup = @Sendable (String) throws -> [IPAddress]

    /// Lookups beyond these fail at once: they would only wait for threads that hang.
    private static let maximumLookups = 1_024

    private let lookup: Lookup
    private let threads: NIOThreadPool
    private let running = Mutex<[String: EventLoopFuture<[IPAddress]>]>([:])

    /// A resolver with a number of threads: one for each name that may hang at a time before others have to wait.
    package init(threads: Int = 16, lookup: @escaping Lookup = systemLookup) {
        self.lookup = lookup
        self.threads = NIOThreadPool(numberOfThreads: threads)
        self.threads.start()
    }

    deinit {
        threads.shutdownGracefully { _ in }
    }

    /// All addresses of a name.
    func addresses(of name: String, on eventLoop: any EventLoop) -> EventLoopFuture<[IPAddress]> {
        running.withLock { running in
            if let lookup = running[name] { return lookup }
            guard running.count < Self.maximumLookups else {
                return eventLoop.makeFailedFuture(OutboundError.lookupFailed)
            }
            let promise = eventLoop.makePromise(of: [IPAddress].self)
            running[name] = promise.futureResult
            threads.runIfActive(eventLoop: eventLoop) { [lookup] in try lookup(name) }
                .whenComplete { result in
                    _ = self.running.withLock { $0.removeValue(forKey: name) }
                    promise.completeWith(result)
                }
            return promise.futureResult
        }
    }
}
