import CLibPQ

/// The one owner of a `PGconn`; the connection is closed when it goes.
///
/// Nothing here is safe to call from two threads.
struct ConnectionHandle: ~Copyable {
    let pointer: OpaquePointer

    private init(adopting pointer: OpaquePointer) {
        self.pointer = pointer
        // Notices quote values and would land on standard error.
        PQsetNoticeProcessor(pointer, { _, _ in }, nil)
        // Sending must not wait for a server that reads no more: how long to wait is decided here.
        PQsetnonblocking(pointer, 1)
    }

    deinit { PQfinish(pointer) }

    /// Connects, and blocks until that has succeeded or failed on every host.
    ///
    /// - Throws: `connectionFailed`.
    static func open(_ info: ConnectionInfo) throws(PostgresError) -> ConnectionHandle {
        let pointer = withCStrings(info.values.keys.sorted()) { keywords in
            withCStrings(info.values.sorted { $0.key < $1.key }.map(\.value)) { values in
                PQconnectdbParams(keywords, values, 0)
            }
        }
        guard let pointer else { throw PostgresError(.connectionFailed, reason: "out of memory") }
        guard PQstatus(pointer) == CONNECTION_OK else {
            let message = ConnectionHandle.message(of: pointer)
            PQfinish(pointer)
            throw PostgresError(.connectionFailed, reason: message)
        }
        return ConnectionHandle(adopting: pointer)
    }

    var serverProcessID: Int32 { PQbackendPID(pointer) }

    /// Whether libpq has noticed that the connection is gone.
    var isBroken: Bool { PQstatus(pointer) == CONNECTION_BAD }

    /// Whether the server is in no transaction and waits for a statement.
    var isIdle: Bool { PQtransactionStatus(pointer) == PQTRANS_IDLE }

    /// Whether a statement of the transaction has failed, so that the server will only roll it back.
    var isInFailedTransaction: Bool { PQtransactionStatus(pointer) == PQTRANS_INERROR }

    /// Whether a transaction is open and sound.
    var isInTransaction: Bool { PQtransactionStatus(pointer) == PQTRANS_INTRANS }

    func makeCancelHandle() -> CancelHandle? {
        PQgetCancel(pointer).map(CancelHandle.init(adopting:))
    }

    private static func message(of pointer: OpaquePointer) -> String {
        let message = PQerrorMessage(pointer).map { String(cString: $0) } ?? ""
        return message.split(whereSeparator: \.isNewline).map { line in
            // What explains a line is set in below it.
            let line = line.drop(while: \.isWhitespace).replacing("\t", with: " ")
            return
                line.hasSuffix("session is read-only") ? "\(line): \(PostgresError.readOnlyReason)" : "\(line)"
        }.joined(separator: "; ")
    }
}

extension ConnectionHandle {
    /// Runs the statements of a text one after the other and answers with the last one's result.
    func run(script: String, timeout: Duration?) throws(PostgresError) -> StatementResult {
        try roundTrip(timeout: timeout) { PQsendQuery($0, script) }
    }

    func prepare(
        _ name: String,
        text: String,
        types: [UInt32],
        timeout: Duration?
    ) throws(PostgresError) -> StatementResult {
        try roundTrip(timeout: timeout) { PQsendPrepare($0, name, text, Int32(types.count), types) }
    }

    func run(_ step: Step, timeout: Duration?) throws(PostgresError) -> StatementResult {
        try roundTrip(timeout: timeout) { Self.send(step, to: $0) }
    }

    private func roundTrip(
        timeout: Duration?,
        _ send: (OpaquePointer) -> Int32
    ) throws(PostgresError) -> StatementResult {
        let deadline = timeout.map { ContinuousClock.now + $0 }
        guard send(pointer) == 1 else { throw lost() }
        try flush(until: deadline)
        return try lastResult(until: deadline)
    }

    func flush(until deadline: ContinuousClock.Instant?) throws(PostgresError) {
        while true {
            let unsent = PQflush(pointer)
            if unsent == 0 { return }
            // The server may have to be heard before it takes more.
            guard unsent > 0, try waits(until: deadline, orToWrite: true) else { throw lost() }
        }
    }

    /// Waits for the server and takes in what it sent; `false` when the connection is gone.
    ///
    /// libpq by itself waits without limit, so that a server which is frozen rather than gone would hold this thread for
    /// ever.
    private func waits(
        until deadline: ContinuousClock.Instant?,
        orToWrite: Bool = false
    ) throws(PostgresError) -> Bool {
        let timeout = deadline.map { max(.zero, $0 - .now) } ?? .seconds(86_400)
        // What is decrypted already is not to be seen on the socket.
        let slice = isEncrypted ? min(timeout, .milliseconds(50)) : timeout
        switch SocketWaiter.wait(for: PQsocket(pointer), orToWrite: orToWrite, timeout: slice) {
        case .ready: return takeInput()
        case .failed: return false
        case .timedOut:
            if slice < timeout { return takeInput() }
            guard deadline != nil else { return true }
            throw PostgresError(.connectionLost, reason: "no answer in time")
        }
    }

    /// Takes in what the server sent.
    ///
    /// Of a record of TLS, which has up to 16 KiB (RFC 8446 section 5.1), libpq may take 8 KiB at a time, while all of it is decrypted. PostgreSQL
    /// writes shorter ones, poolers and proxies do not.
    private func takeInput() -> Bool {
        (0..<(isEncrypted ? 3 : 1)).allSatisfy { _ in PQconsumeInput(pointer) == 1 }
    }

    private var isEncrypted: Bool { PQsslInUse(pointer) == 1 || PQgssEncInUse(pointer) == 1 }

    /// The next result of what was sent; frees the former one when there is none in time.
    func nextResult(
        until deadline: ContinuousClock.Instant?,
        freeing former: OpaquePointer? = nil
    ) throws(PostgresError) -> OpaquePointer? {
        do throws(PostgresError) {
            // When the connection is gone, what libpq knows of that comes as a result.
            while PQisBusy(pointer) == 1, try waits(until: deadline) {}
        } catch {
            PQclear(former)
            throw error
        }
        return PQgetResult(pointer)
    }

    /// The last result of what was sent; of what was given up too early, the last of those that were not taken yet.
    func lastResult(until deadline: ContinuousClock.Instant?) throws(PostgresError) -> StatementResult {
        var last: OpaquePointer?
        while let next = try nextResult(until: deadline, freeing: last) {
            let status = PQresultStatus(next)
            if status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH {
                PQclear(next)
                PQclear(last)
                throw PostgresError(.connectionLost, reason: "COPY is not supported")
            }
            // The first error of a script is its outcome; what follows it says only that the connection is gone too.
            if let held = last, PQresultStatus(held) == PGRES_FATAL_ERROR {
                PQclear(next)
            } else {
                PQclear(last)
                last = next
            }
        }
        guard let last else { throw lost() }
        let result = StatementResult(adopting: last)
        guard let failure = result.failure else { return result }
        throw failure
    }

    func lost() -> PostgresError {
        PostgresError(.connectionLost, reason: ConnectionHandle.message(of: pointer))
    }
}

extension ConnectionHandle {
    /// Whether the server has closed this idle connection, as far as this side can know without sending.
    func hasHungUp() -> Bool {
        // Each turn takes in what lies there: a farewell first, then the end of the stream. The bound only guards
        // against a server that keeps talking.
        for _ in 0..<16 {
            if isBroken { return true }
            switch SocketWaiter.wait(for: PQsocket(pointer), timeout: .zero) {
            case .timedOut: return false
            case .failed: return true
            case .ready:
                guard PQconsumeInput(pointer) == 1 else { return true }
                _ = PQisBusy(pointer)
            }
        }
        return true
    }

    /// Waits for notifications, until the alarm rings, and takes those that came, in order. Without an alarm, the wait is short.
    ///
    /// - Throws: `connectionLost`.
    func notifications(until alarm: SocketAlarm?) throws(PostgresError) -> [PostgresNotification] {
        // What came with the answer to an earlier statement has been read from the socket already.
        let known = takeNotifications()
        if !known.isEmpty { return known }
        let socket = PQsocket(pointer)
        let readiness =
            alarm.map { SocketWaiter.wait(for: socket, until: $0) }
            ?? SocketWaiter.wait(for: socket, timeout: .milliseconds(200))
        switch readiness {
        case .timedOut: return []
        case .failed: throw lost()
        case .ready: guard takeInput() else { throw lost() }
        }
        return takeNotifications()
    }

    private func takeNotifications() -> [PostgresNotification] {
        var notifications: [PostgresNotification] = []
        while let notification = PQnotifies(pointer) {
            defer { PQfreemem(notification) }
            notifications.append(
                PostgresNotification(
                    channel: String(cString: notification.pointee.relname),
                    payload: String(cString: notification.pointee.extra)
                )
            )
        }
        return notifications
    }
}

/// Lends strings to C as an array of pointers that a null pointer ends.
private func withCStrings<Result>(
    _ strings: [String],
    _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
    let characters = strings.map { Array($0.utf8CString) }
    let buffer = characters.flatMap(\.self)
    return buffer.withUnsafeBufferPointer { buffer in
        var offset = 0
        var pointers: [UnsafePointer<CChar>?] = characters.map { string in
            defer { offset += string.count }
            return buffer.baseAddress?.advanced(by: offset)
        }
        pointers.append(nil)
        return body(pointers)
    }
}
