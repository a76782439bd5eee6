import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird
import NIOCore

/// Fills the directory from a stream of lines of any length (API section 4). For admins.
struct ImportController: Controller {
    let services: Services
    let spools: SpoolDirectory
    let limiter = ImportLimiter()

    func addRoutes(to router: Router<CarillonRequestContext>) {
        admins(router).post("/import", use: importLines)
    }

    private func importLines(_ request: NetworkRequest) async throws -> Response {
        try ContentType.check(request.http.headers, accepted: ContentType.newlineDelimitedJSON)
        request.context.channel.triggerUserOutboundEvent(RequestDeadlineHandler.Mode.sincePart, promise: nil)
        let network = request.access.network
        let tally = try await limiter.importing(into: network.id) {
            let announced = request.http.headers[.contentLength].flatMap(Int.init) ?? 0
            try spools.check(total: announced, more: announced)
            let spool = try ImportSpool(
                in: spools,
                devices: DeviceReader(now: services.clock.now(), addresses: services.addressReader(for: network))
            )
            let tally = try await spool.fill { handle in
                try await RequestBodyReader.forEachPart(of: request.http, handle)
            }
            request.context.channel.triggerUserOutboundEvent(RequestDeadlineHandler.Mode.arrived, promise: nil)
            try await limiter.writing(into: network.id) {
                UnitOfWork.current?.liftDeadline()
                if tally.subscriptions > 0 {
                    try await spool.checkSubscriptions(devices: tally.devices) {
                        try await services.devices.known(among: $0, in: network.id)
                    }
                }
                try await apply(spool, in: network.id)
            }
            return tally
        }
        return .json(tally.json)
    }

    private func apply(_ spool: ImportSpool, in network: NetworkID) async throws {
        do {
            try await services.directory.apply({ try spool.nextBatch() }, in: network)
        } catch let reached as LimitReached {
            throw Problem.importStopped(by: reached)
        } catch  where error.isTransient || error is CancellationError {
            let mayHaveWritten = UnitOfWork.current?.mayHaveWritten ?? true
            throw mayHaveWritten ? Problem.importInterrupted : .serviceUnavailable(retryAfter: 10)
        }
    }
}
