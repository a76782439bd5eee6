/// Which web pages may call the API from a browser (API section 14, `CARILLON_CORS_ORIGINS`).
package enum CORSOrigins: Hashable, Sendable {
    /// Pages of these origins, such as `https://chat.example`; none by default.
    case named(Set<String>)
    /// All pages.
    case all

    /// What `Access-Control-Allow-Origin` answers to a page; `nil` when it may not call.
    func allowed(_ origin: String) -> String? {
        switch self {
        case .named(let origins): origins.contains(origin) ? origin : nil
        case .all: "*"
        }
    }
}
