import CarillonCore
import CarillonEdge
import Hummingbird

/// The channels of a network and who is in them (API section 4). For admins.
struct ChannelController: Controller {
    private static let maximumMembers = 10_000

    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        let admins = admins(router)
        admins.pages("/channels") { request in
            try await request.search(json: \Channel.json) { text, cursor, limit in
                try await services.directory.channels(matching: text, in: request.network, after: cursor, limit: limit)
            }
        }
        admins.show("/channels/{channel}") { request in
            try await services.directory.channel(request.id("channel"), in: request.network)?.json
        }
        admins.store("/channels/{channel}") { request in
            let channel = try Channel(id: request.id("channel"), json: await request.json())
            return (channel.json, try await services.directory.putChannel(channel, in: request.network))
        }
        admins.remove("/channels/{channel}") { request in
            try await services.directory.deleteChannel(request.id("channel"), in: request.network)
        }
        admins.pages("/channels/{channel}/members", use: listMembers)
        admins.put("/channels/{channel}/members", use: replaceMembers)
        admins.store("/channels/{channel}/members/{user}", addMember)
        admins.remove("/channels/{channel}/members/{user}") { request in
            let (user, channel) = try (request.user(), request.id("channel", as: Channel.self))
            return try await services.directory.removeMember(user, from: channel, in: request.network)
        }
    }

    private func listMembers(_ request: NetworkRequest) async throws -> Response {
        let id = try request.id("channel", as: Channel.self)
        let json = { (user: UserID) -> JSONValue in ["userId": .string(user.rawValue)] }
        return try await request.list(by: \UserID.rawValue, after: { UserID($0) }, json: json) {
            try await services.directory.members(of: id, in: request.network, after: $0, limit: $1).found()
        }
    }

    private func replaceMembers(_ request: NetworkRequest) async throws -> Response {
        let id = try request.id("channel", as: Channel.self)
        let users = try await request.json().read(as: "invalid-members") { reader in
            reader.userIDs("userIds", required: true, maximumCount: Self.maximumMembers)
        }
        try await services.directory.replaceMembers(of: id, with: Set(users).sorted(), in: request.network)
        return .noContent
    }

    private func addMember(_ request: NetworkRequest) async throws -> (stored: JSONValue, isNew: Bool) {
        let (user, channel) = try (request.user(), request.id("channel", as: Channel.self))
        try await request.passEmptyBody(as: "invalid-member")
        let isNew = try await services.directory.addMember(user, to: channel, in: request.network)
        return (["channelId": .string(channel.rawValue), "userId": .string(user.rawValue)], isNew)
    }
}
