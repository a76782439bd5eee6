import CLibPQ

extension ConnectionHandle {
    /// A statement with its parameters.
    enum Step {
        case prepared(name: String, ParameterList)
        case unprepared(text: String, ParameterList)
    }

    /// What the statements of a pipeline answered: all of them, or those before the one that failed.
    struct PipelineAnswer {
        var results: [StatementResult] = []
        var failure: PostgresError?
    }

    /// Sends statements one behind the other, without waiting in between; what follows a failure is not run. After one that
    /// ends the session the connection is of no use.
    ///
    /// - Throws: `connectionLost`: how many of them were run, nobody knows.
    func runPipeline(_ steps: [Step], timeout: Duration?) throws(PostgresError) -> PipelineAnswer {
        let deadline = timeout.map { ContinuousClock.now + $0 }
        guard PQenterPipelineMode(pointer) == 1 else { throw lost() }
        for step in steps {
            guard Self.send(step, to: pointer) == 1 else { throw lost() }
        }
        guard PQpipelineSync(pointer) == 1 else { throw lost() }
        try flush(until: deadline)
        var answer = PipelineAnswer()
        for _ in steps {
            let result = try result(until: deadline)
            // What follows a failure says only that it was skipped.
            if answer.failure == nil { answer.failure = result.failure }
            if answer.failure == nil { answer.results.append(result) }
            if let failure = answer.failure, failure.endsSession { return answer }
            guard try nextResult(until: deadline) == nil else { throw lost() }
        }
        let end = try result(until: deadline)
        guard end.status == PGRES_PIPELINE_SYNC, PQexitPipelineMode(pointer) == 1 else { throw end.failure ?? lost() }
        return answer
    }

    static func send(_ step: Step, to connection: OpaquePointer) -> Int32 {
        switch step {
        case .prepared(let name, let parameters):
            parameters.withPointers { values, lengths, formats in
                PQsendQueryPrepared(connection, name, Int32(parameters.count), values, lengths, formats, 1)
            }
        case .unprepared(let text, let parameters):
            parameters.withPointers { values, lengths, formats in
                PQsendQueryParams(
                    connection,
                    text,
                    Int32(parameters.count),
                    parameters.types,
                    values,
                    lengths,
                    formats,
                    1
                )
            }
        }
    }

    private func result(until deadline: ContinuousClock.Instant?) throws(PostgresError) -> StatementResult {
        guard let result = try nextResult(until: deadline) else { throw lost() }
        return StatementResult(adopting: result)
    }
}
