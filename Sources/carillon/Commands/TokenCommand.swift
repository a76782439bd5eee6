import ArgumentParser
import CarillonCore
import PushHTTP

/// `carillon token`: prints a token of a user, to try things with.
struct TokenCommand: AsyncParsableCommand {
    /// How long a token lives: a number and `s`, `m`, `h` or `d`.
    struct Lifetime: ExpressibleByArgument {
        private static let units: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]

        let seconds: Int

        init?(argument: String) {
            guard let unit = argument.last.flatMap({ Self.units[$0] }), let count = Int(argument.dropLast()), count > 0
            else { return nil }
            let (seconds, overflows) = count.multipliedReportingOverflow(by: unit)
            guard !overflows, seconds <= 86_400 else { return nil }
            self.seconds = seconds
        }
    }

    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Print a token of a user, as a back end makes them.",
        discussion: """
            Calls the API of a running service as its operator: with CARILLON_OPERATOR_TOKEN, or the token in CARILLON_DATA_DIR. \
            The network needs an HS256 key of user tokens, as it has from the beginning.
            """
    )

    @Option(help: ArgumentHelp("The network.", valueName: "id"))
    var network: String

    @Option(help: ArgumentHelp("Whom the token speaks for.", valueName: "id"))
    var user: String

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("How long it lives, a day at most: 90s, 15m, 1h, 1d.", valueName: "time")
    )
    var lifetime: Lifetime?

    @Option(help: ArgumentHelp("Where the service is; CARILLON_LISTEN unless it is said.", valueName: "url"))
    var url: String?

    func validate() throws {
        if NetworkID(network) == nil { throw ValidationError("--network is a network's id") }
        guard let id = UserID(user), !id.isReserved else { throw ValidationError("--user is a user's id") }
    }

    func run() async throws {
        try await reportingErrors {
            let body: JSONValue = ["userId": .string(user), "lifetimeSeconds": lifetime.map { JSONValue($0.seconds) }]
            let service = try OperatedNetwork(url: url, network: network)
            let answer = try await service.call(.post, "/user-tokens", body)
            guard answer.status != 404 else { throw StartError("there is no network \(network)") }
            guard answer.status < 300, let token = answer["token"]?.text else { throw StartError(answer.problem) }
            print(token)
        }
    }
}
