package enum SimulatedService: String, CaseIterable, Hashable, Sendable {
    case apnsProduction = "apns production"
    case apnsSandbox = "apns sandbox"
    case fcm
    case oauth
    case webPush = "web push"
}
