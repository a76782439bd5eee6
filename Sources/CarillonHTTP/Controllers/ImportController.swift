import CarillonCore
import HTTPTypes
import Hummingbird
import NIOCore

/// Fills the directory from a stream of lines of any length (API section 4). For admins.
struct ImportController: Sendable {
    let authenticator: Authenticator
    let directory: any DirectoryStore
    let egress: EgressGuard
    let temporaryDirectory: String
    let clock: WallClock

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.post("/v1/networks/{network}/import", use: importLines)
    }

    private func importLines(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await authenticator.admin(request, context)
        try ContentType.check(request.headers, accepted: ContentType.newlineDelimitedJSON)
        context.channel.triggerUserOutboundEvent(RequestDeadlineHandler.Mode.sincePart, promise: nil)
        let spool = try ImportSpool(
            in: temporaryDirectory,
            devices: DeviceReader(now: clock.now(), egress: egress, webPushHosts: access.network.webPushHosts)
        )
        let tally = try await spool.fill { handle in
            try await RequestBodyReader.forEachPart(of: request, handle)
        }
        UnitOfWork.current?.liftDeadline()
        try await directory.apply({ try spool.nextBatch() }, in: access.networkID)
        return .json(tally.json)
    }
}
