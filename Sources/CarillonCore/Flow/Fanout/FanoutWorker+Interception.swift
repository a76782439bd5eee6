import Logging
import ServiceLifecycle
import Synchronization

extension FanoutWorker {
    /// How long an event rests of which an endpoint could not be asked.
    private static let questionRest = Duration.seconds(1)

    /// Takes those events out of a batch about which an endpoint has to be asked first: of which no page is written yet that
    /// notifies anybody, and on whose page somebody is left after the toggles.
    func takeOut(
        _ events: inout [PendingEvent],
        _ pages: inout [RecipientPage],
        _ expansions: inout [Expansion],
        _ endpoints: [NetworkID: [Endpoint]]
    ) -> [InterceptionQuestion] {
        guard interceptor != nil, !endpoints.isEmpty else { return [] }
        var questions: [InterceptionQuestion] = []
        var others: [Int] = []
        for index in events.indices {
            if let question = question(on: events[index], pages[index], expansions[index], endpoints) {
                questions.append(question)
            } else {
                others.append(index)
            }
        }
        guard !questions.isEmpty else { return [] }
        events = others.map { events[$0] }
        pages = others.map { pages[$0] }
        expansions = others.map { expansions[$0] }
        return questions
    }

    private func question(
        on event: PendingEvent,
        _ page: RecipientPage,
        _ expansion: Expansion,
        _ endpoints: [NetworkID: [Endpoint]]
    ) -> InterceptionQuestion? {
        guard event.verdict == nil, event.tally.notified == 0, !expansion.groups.isEmpty,
            let (endpoint, terms) = endpoints[event.networkID]?.interceptor(of: event.event),
            let notification = expander.usualText(of: event, page)
        else { return nil }
        let users = Set(expansion.groups.lazy.flatMap(\.targets).map(\.userID)).subtracting([.nobody])
        return InterceptionQuestion(
            event: event,
            endpoint: endpoint,
            terms: terms,
            notification: notification,
            recipients: users.sorted(),
            hasMoreRecipients: expansion.next != nil
        )
    }

    /// Asks until the last question is answered.
    func askQuestions() async {
        await withDiscardingTaskGroup { group in
            for await question in questions {
                group.addTask {
                    await self.settle(question)
                    self.asked.withLock { $0[question.event.id] = nil }
                }
            }
        }
    }

    /// Asks, and goes on with the event by what was answered.
    private func settle(_ question: InterceptionQuestion) async {
        guard let interceptor else { return }
        var event = question.event
        do {
            event.verdict = try await interceptor.verdict(on: question)
        } catch {
            logger.debug("Could not ask an endpoint", metadata: question.event.metadata(error))
            await note(error, of: [event])
            // Whoever claims it next would meet the same; its lease is held meanwhile.
            try? await Task.sleep(for: Self.questionRest)
        }
        guard event.verdict != nil else { return await queue.giveBack([event]) }
        // Whoever was asked is not asked again because this replica has no room or is about to stop.
        if !Task.isShuttingDownGracefully, queue.reserve([event]) == [true] {
            await queue.submit([event])
        } else {
            await expand([event])
        }
    }
}
