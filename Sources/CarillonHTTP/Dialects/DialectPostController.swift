import CarillonCore
import CarillonDialects
import CarillonEdge
import HTTPTypes
import Hummingbird
import Synchronization

/// Other chat backends' webhooks, taken as they are (DIALECTS sections 1 and 18).
struct DialectPostController: Controller {
    /// Where an application service is sent its transactions by older homeservers, and by newer ones.
    private static let matrixRoots = ["", "/_matrix/app/v1"]

    let services: Services
    let journal: PostJournal
    let count: PostCount
    let large = LargeBodies()

    func addRoutes(to router: Router<CarillonRequestContext>) {
        let base = "/v1/networks/{network}/events"
        for dialect in Dialects.all {
            // A path of its own for each: beside them stand the ids of events.
            router.post(RouterPath(PostAddress.Kind.dialect(dialect).route)) { request, context in
                try await post(Arrival(request: request, dialect: dialect, context: context))
            }
        }
        router.on(RouterPath("\(base)/\(DialectName.cloudevents.rawValue)"), method: .options, use: shakeHands)
        let matrix = "\(base)/\(DialectName.matrix.rawValue)"
        for root in Self.matrixRoots {
            router.put(RouterPath("\(matrix)\(root)/transactions/{transaction}")) { request, context in
                try await post(Arrival(request: request, dialect: Dialects.named(.matrix), context: context))
            }
            router.get(RouterPath("\(matrix)\(root)/users/{name}"), use: answerUnknown)
            router.get(RouterPath("\(matrix)\(root)/rooms/{name}"), use: answerUnknown)
        }
        router.post(RouterPath("\(matrix)/_matrix/app/v1/ping")) { request, context in
            try await answerMatrix(request, context) { .json([:]) }
        }
    }

    // MARK: - Posts

    /// A request, and the dialect of its path.
    private struct Arrival {
        let request: Request
        let dialect: any EventDialect
        let context: CarillonRequestContext
    }

    private func post(_ arrival: Arrival) async throws -> Response {
        try await count.counting(.dialect(arrival.dialect), arrival.context) {
            guard arrival.dialect.name == .matrix else { return try await receive(arrival) }
            return try await asMatrix(arrival.context) { try await receive(arrival) }
        }
    }

    private func receive(_ arrival: Arrival) async throws -> Response {
        let sender = try await sender(of: arrival)
        guard let limit = arrival.dialect.largestBody, DialectRequestReader.mayBeLarge(arrival.request) else {
            return try await take(arrival, upTo: RequestBodyReader.eventsLimit, from: sender)
        }
        // Memory that is shared is for those who have proven who they are.
        let head = try DialectRequestReader.head(of: arrival.request)
        try await journal.watching(.dialect(arrival.dialect.name), in: sender.network.id) {
            _ = try await refusal(of: head, arrival, sender)
            try large.enter(sender.network.id)
        }
        defer { large.leave(sender.network.id) }
        return try await take(arrival, upTo: limit, from: sender)
    }

    private func take(_ arrival: Arrival, upTo limit: Int, from sender: Sender) async throws -> Response {
        let (dialect, network) = (arrival.dialect, sender.network)
        return try await journal.watching(.dialect(dialect.name), in: network.id) {
            let posted = try await DialectRequestReader.request(arrival.request, for: dialect, upTo: limit)
            if let refusal = try await refusal(of: posted, arrival, sender) {
                journal.refused(refusal, 200, .dialect(dialect.name), in: network.id)
                return .json([:])
            }
            let now = services.clock.now()
            let reading = try DialectRequestReader.read(posted, by: dialect, sender.document, now: now)
            if reading.knownCount > 0 { try services.rates.take(events: reading.knownCount, of: network) }
            let receipts = try await accept(inSlices: reading.events.map(\.parsed), of: network.id)
            journal.answered(reading, receipts, dialect.name, in: network.id)
            let answer = dialect.answer(to: reading, receipts)
            return .json(answer.json, status: answer.status)
        }
    }

    /// Accepts events, a bounded number at a time: others share a commit with them. What was accepted before a failure is recognised
    /// when it comes again.
    private func accept(inSlices events: [ParsedEvent], of network: NetworkID) async throws -> [Receipt] {
        var receipts: [Receipt] = []
        for start in stride(from: 0, to: events.count, by: EventParser.maximumBatchCount) {
            let end = min(start + EventParser.maximumBatchCount, events.count)
            receipts += try await services.accept(Array(events[start..<end]), network)
            UnitOfWork.current?.noteWrite()
        }
        return receipts
    }

    /// Somebody who posts: with an API key, or with what the network's document asks for.
    private struct Sender {
        var network: Network
        var document: DialectDocument?
        var proof: DialectProof
    }

    /// Who posts. Without a document there is nothing here for whoever has no key.
    private func sender(of arrival: Arrival) async throws -> Sender {
        let (request, context) = (arrival.request, arrival.context)
        let networkID = try context.identifier("network", as: Network.self)
        let known = try await services.authenticator.sender(of: arrival.dialect.name, in: networkID, context)
        let proof = DialectProof(
            to: arrival.dialect,
            authorization: request.headers[values: .authorization].first,
            hasSignature: SignedBody(request.headers) != nil
        )
        if proof == .key {
            do {
                let access = try await access(request, context, ofUsers: false)
                try access.requireEvents()
                return Sender(network: access.network, document: known?.document, proof: proof)
            } catch let problem as Problem
                where known?.document.isEnabled != true && [.unauthorized, .forbidden].contains(problem.status)
            {
                if problem.status == .unauthorized { try services.rates.takeRefusal(of: context) }
                throw Problem.notFound()
            }
        }
        guard let known, known.document.isEnabled else {
            try services.rates.takeRefusal(of: context)
            throw Problem.notFound()
        }
        return Sender(network: known.network, document: known.document, proof: proof)
    }

    /// Why a post is passed over without a word; `nil` for one that proves who sent it.
    ///
    /// - Throws: 401 when it does not.
    private func refusal(of posted: DialectRequest, _ arrival: Arrival, _ sender: Sender) async throws -> String? {
        guard sender.proof != .key, let document = sender.document else { return nil }
        let context = arrival.context
        if sender.proof == .signature, let signature = SignedBody(arrival.request.headers) {
            _ = try await services.authenticator.verify(signature, posted.body, of: sender.network.id, context)
            return nil
        }
        do throws(DialectRefusal) {
            try arrival.dialect.verify(posted, document, now: services.clock.now())
            context.caller.note(.network(sender.network.id))
            return nil
        } catch .dropped(let reason) {
            return reason
        } catch {
            // Without its secret a right signature looks like a wrong one.
            throw document.isUnreadable ? Problem.wrongMasterKey : Problem(error)
        }
    }

    /// Lets a sender of CloudEvents post here (HTTP 1.1 Web Hooks for Event Delivery, section 4).
    private func shakeHands(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let networkID = try context.identifier("network", as: Network.self)
        let known = try await services.authenticator.sender(of: .cloudevents, in: networkID, context)
        // Before there is a document only API keys are known, and where there is one nobody has to prove anything yet.
        if known?.document.isEnabled != true {
            let arrival = Arrival(request: request, dialect: Dialects.named(.cloudevents), context: context)
            _ = try await sender(of: arrival)
        }
        let origin = HTTPField.Name.known("webhook-request-origin")
        guard let asking = request.headers[origin] else {
            throw Problem.invalidParameter("WebHook-Request-Origin", "is required")
        }
        return Response(
            status: .ok,
            headers: [
                .known("webhook-allowed-origin"): asking, .known("webhook-allowed-rate"): "*", .allow: "POST, OPTIONS",
            ]
        )
    }

    // MARK: - Matrix

    /// Nobody and no room is made on demand.
    private func answerUnknown(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        try await answerMatrix(request, context) {
            .json(["errcode": "M_NOT_FOUND", "error": "There is nothing of that name"], status: .notFound)
        }
    }

    private func answerMatrix(
        _ request: Request,
        _ context: CarillonRequestContext,
        _ answer: @escaping @Sendable () -> Response
    ) async throws -> Response {
        let arrival = Arrival(request: request, dialect: Dialects.named(.matrix), context: context)
        return try await asMatrix(context) {
            let sender = try await sender(of: arrival)
            let posted = try await DialectRequestReader.request(request, for: arrival.dialect)
            _ = try await refusal(of: posted, arrival, sender)
            return answer()
        }
    }

    /// Homeservers understand errors of their own kind only.
    private func asMatrix(
        _ context: CarillonRequestContext,
        _ body: () async throws -> Response
    ) async throws -> Response {
        do {
            return try await body()
        } catch {
            guard let problem = (error as? Problem) ?? (error as? InvalidInput).map(Problem.init) else { throw error }
            if problem.status == .unauthorized {
                do throws(Problem) { try services.rates.takeRefusal(of: context) } catch {
                    return error.matrixAnswer
                }
            }
            return problem.matrixAnswer
        }
    }
}

/// Who may have a body in memory that is larger than those of events are as a rule: one of each network at a time, and few in all.
final class LargeBodies: Sendable {
    static let atOnce = 3

    private let networks = Mutex<Set<NetworkID>>([])

    /// Takes a place for a network's body.
    ///
    /// - Throws: 503 when there is none: senders of such bodies try again.
    func enter(_ network: NetworkID) throws(Problem) {
        let hasEntered = networks.withLock { networks in
            networks.count < Self.atOnce && networks.insert(network).inserted
        }
        guard hasEntered else { throw .serviceUnavailable("other large bodies are being read") }
    }

    func leave(_ network: NetworkID) {
        _ = networks.withLock { $0.remove(network) }
    }
}
