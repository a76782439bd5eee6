package import CarillonCore
import Foundation
package import Postgres

/// Finds recipients in the directory; every page of one call is of one moment.
package final class PostgresRecipientSource: RecipientSource {
    private let pool: PostgresPool
    private let overrides = OverrideCache<TemplateKind, StoredTemplate>(
        capacity: 8_000,
        compile: CompiledTemplate.init(stored:)
    )

    package init(pool: PostgresPool) {
        self.pool = pool
    }

    /// One page of recipients for each of the first queries, in their order; at least for the first one. Reads all of it in
    /// one round trip, unless notifications name addresses or filter by a tag; a further page of a channel takes a few.
    package func recipients(for queries: [RecipientQuery]) async throws -> [RecipientPage] {
        guard let first = queries.first else { return [] }
        if let listing = first.listingOfAsked { return [try await prospect(first, listing)] }
        let others = Array(queries.prefix { $0.listingOfAsked == nil })
        let addressed = try await AddressRegistry(pool: pool).devices(reachedBy: others)
        let pages = try await pool.snapshot { session in
            try self.pages(for: others, addressed) { statements, areLast in
                areLast ? try session.commit(after: statements) : try session.pipeline(statements)
            }
        }
        return try await narrowed(pages, others)
    }

    private func pages(
        for queries: [RecipientQuery],
        _ addressed: [Int: [DeviceID]] = [:],
        _ ask: (_ statements: [SQL], _ areLast: Bool) throws -> [StatementResult]
    ) throws -> [RecipientPage] {
        var candidates = CandidateReader(queries, addressed: addressed)
        let questions = (
            points: ReadPoints.statement(for: Set(queries.map(\.networkID))),
            context: RecipientContext.statement(for: candidates.queries)
        )
        let isToldElsewhere = candidates.queries.contains { $0.contextElsewhere != nil }
        let points: ReadPoints
        let context: RecipientContext
        if queries.count == 1, !isToldElsewhere, let people = candidates.onlyStatement {
            // One event alone costs what its statements do, and a transaction around them as much as one of them.
            let statement = CombinedStatement(parts: [
                (questions.points, ReadPoints.columns), (people, PageReading.columns),
                (questions.context, RecipientContext.columns),
            ])
            guard let answer = try ask([statement.sql], true).first else {
                throw StoreError.unreadable("context of events")
            }
            let parts = statement.parts(of: answer)
            points = try ReadPoints(parts[0])
            try candidates.takeOnly(parts[1])
            context = try RecipientContext(parts[2])
        } else {
            let answers = try ask(
                [questions.points] + candidates.statements + [questions.context],
                candidates.furtherStatements.isEmpty && !isToldElsewhere
            )
            guard let first = answers.first, let last = answers.last else {
                throw StoreError.unreadable("context of events")
            }
            points = try ReadPoints(first)
            try candidates.take(answers.dropFirst().dropLast())
            context = try RecipientContext(AnswerPart(last))
        }
        while case let statements = candidates.furtherStatements, !statements.isEmpty {
            try candidates.takeFurther(ask(statements, false))
        }
        let pages = candidates.answered.enumerated().map { position, query in
            var page = RecipientPage(
                settings: context.settings(for: query, overrides),
                names: context.names(for: query),
                recipients: [],
                readPoint: points[query.networkID]
            )
            page.membersFromBefore = context.membersFromBefore(query)
            page.isDeleted = context.isDeleted(query)
            if let asked = candidates.asked(at: position, for: query) {
                (page.recipients, page.others) = asked
            } else {
                (page.recipients, page.next) = candidates.recipients(at: position, mark: context.mark(of: query))
                if !candidates.hasFormerMembers(at: position, mark: context.mark(of: query)) {
                    // What is known of a channel is asked of the one that an event belongs to.
                    let isKnown = query.contextElsewhere != nil || context.describesChannel(of: query)
                    page.formerMembers = isKnown ? .nobody : .noChannel
                }
            }
            return page
        }
        guard isToldElsewhere else { return pages }
        var toggles = ContextToggles(pages, of: candidates.answered)
        if let statement = toggles.statement, let answer = try ask([statement], false).first {
            try toggles.take(answer)
        }
        return toggles.applied(to: pages)
    }

    /// The pages of direct notifications with whom they are meant for, as far as that is not seen from the directory alone.
    private func narrowed(_ pages: [RecipientPage], _ queries: [RecipientQuery]) async throws -> [RecipientPage] {
        guard queries.contains(where: { $0.event.direct != nil }) else { return pages }
        var lookup = SubscriptionLookup()
        for (page, query) in zip(pages, queries) {
            guard let direct = query.event.direct else { continue }
            let tags = query.only == nil ? Set([direct.filter.tag].compactMap(\.self)) : direct.tags
            lookup.ask(about: page.recipients + page.others, tags, in: query.networkID)
        }
        try await lookup.read(pool)
        return zip(pages, queries).map { page, query in
            guard let direct = query.event.direct else { return page }
            let subscribes = { lookup.subscribes($0, to: $1, in: query.networkID) }
            var page = page
            if query.only != nil {
                // Members come first, and were told from the others.
                let members = Set(page.recipients.map(\.userID))
                let people = page.recipients + page.others
                page.recipients = people.compactMap { person in
                    direct.share(
                        of: person,
                        isMember: members.contains(person.userID),
                        subscribes: subscribes
                    )
                }
                let concerned = Set(page.recipients.map(\.userID))
                page.others = people.filter { !concerned.contains($0.userID) }
            }
            page.recipients = direct.filtered(page.recipients, subscribes: subscribes)
            return page
        }
    }

    /// Answers what would be if `listing` had just been accepted: has its facts written by the code that accepts events,
    /// reads, and takes them back. Whoever comes by a membership depends on what was said and removed before, which is
    /// known to nothing else.
    private func prospect(_ query: RecipientQuery, _ listing: IncomingEvent) async throws -> RecipientPage {
        do {
            try await pool.write(lockWait: Self.lockWait) { session in
                let start = try session.start().start
                _ = try FactWriter(facts: DirectoryFacts(of: [listing]), at: start.moment) { _ in start.mark }.write(
                    session
                )
                let pages = try self.pages(for: [query]) { statements, _ in try session.pipeline(statements) }
                guard let page = pages.first else { throw MissingRecipientPage() }
                throw TakenBack(page: page)
            }
            throw MissingRecipientPage()
        } catch let answer as TakenBack {
            return answer.page
        }
    }

    private static let lockWait = Duration.seconds(1)

    /// Carries the answer out of a transaction that must not be committed.
    private struct TakenBack: Error {
        let page: RecipientPage
    }
}

extension RecipientQuery {
    /// Its event as it would come in, reduced to those who are asked for, where that makes them members of a channel of which
    /// they are told something.
    fileprivate var listingOfAsked: IncomingEvent? {
        guard let only, event.type.notifies else { return nil }
        var event = event
        // Whoever is not asked for is described all the same: texts name them.
        event.people += event.members + event.existingMembers
        // Who joins is not told of it, and whether they were there before is asked of what was written before.
        event.members = event.type.kind.isOfMembers ? [] : event.members.filter { only.contains($0.id) }
        event.existingMembers.removeAll { !only.contains($0.id) }
        if let actor = event.actor, !only.contains(actor.id) { event.actor = nil }
        guard !(event.members + event.existingMembers).isEmpty else { return nil }
        return IncomingEvent(
            networkID: networkID,
            id: EventID(UUID()),
            receivedAt: event.timestamp,
            event: event,
            body: [],
            leased: false
        )
    }
}
