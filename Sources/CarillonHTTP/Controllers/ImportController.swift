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
        router.post("/v1/networks/{network}/import", use: importLines)
    }

    private func importLines(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        try ContentType.check(request.headers, accepted: ContentType.newlineDelimitedJSON)
        context.channel.triggerUserOutboundEvent(RequestDeadlineHandler.Mode.sincePart, promise: nil)
        let tally = try await limiter.importing(into: access.networkID) {
            let announced = request.headers[.contentLength].flatMap(Int.init) ?? 0
            try spools.check(total: announced, more: announced)
            let spool = try ImportSpool(
                in: spools,
                devices: DeviceReader(now: services.clock.now(), addresses: services.addressReader(for: access.network))
            )
            let tally = try await spool.fill { handle in
                try await RequestBodyReader.forEachPart(of: request, handle)
            }
            try await limiter.writing(into: access.networkID) {
                UnitOfWork.current?.liftDeadline()
                if tally.subscriptions > 0 {
                    try await spool.checkSubscriptions(devices: tally.devices) {
                        try await services.devices.known(among: $0, in: access.networkID)
                    }
                }
                try await apply(spool, in: access.networkID)
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
