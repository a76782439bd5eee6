package import CarillonCore

/// The server of networks that have none.
package struct NobodyToAsk: UserTokenAsker {
    package init() {}

    package func ask(
        _ introspection: UserTokenIntrospection,
        about token: Secret,
        in network: NetworkID
    ) async -> UserTokenAnswer {
        .failed(reason: "nobody is to be asked")
    }
}
