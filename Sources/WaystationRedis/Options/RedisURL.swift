#if Redis
import Foundation
import WaystationSharing

/// The parts of a URL that names a server: `redis://user:password@host:port/database`, or `rediss://` for TLS.
///
/// All parts but the host may be missing. Special characters in user and password are percent-encoded.
struct RedisURL: Equatable {
    let endpoint: RedisEndpoint
    let user: String?
    let password: String?
    let database: Int?
    let isEncrypted: Bool

    /// - Parameters:
    ///   - text: The URL.
    ///   - defaultPort: The port of a URL that names none.
    /// - Throws: An error that repeats no password.
    init(_ text: String, defaultPort: Int) throws(TierError) {
        guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty else {
            throw Self.mistake("has no host, or characters that must be percent-encoded")
        }
        switch parts.scheme?.lowercased() {
        case "redis": isEncrypted = false
        case "rediss": isEncrypted = true
        default: throw Self.mistake("begins with neither redis:// nor rediss://")
        }
        guard parts.query == nil, parts.fragment == nil else { throw Self.mistake("has a query or a fragment") }
        let port = parts.port ?? defaultPort
        guard (1...65_535).contains(port) else { throw Self.mistake("has the port \(port)") }
        endpoint = RedisEndpoint(host: host.trimmingCharacters(in: ["[", "]"]), port: port)
        password = parts.password
        user = parts.user.flatMap { $0.isEmpty ? nil : $0 }
        guard user == nil || password != nil else { throw Self.mistake("has a user without a password") }
        let path = parts.path.drop(while: { $0 == "/" })
        database = path.isEmpty ? nil : Int(path)
        guard path.isEmpty || database.map({ $0 >= 0 }) ?? false else {
            throw Self.mistake("has a path that is not the number of a database")
        }
    }

    /// Reads the URLs of servers that belong together.
    ///
    /// - Throws: An error if there is no URL, or if URLs have different users, passwords, databases or schemes.
    static func all(_ texts: [String], defaultPort: Int) throws(TierError) -> (first: RedisURL, all: [RedisEndpoint]) {
        var first: RedisURL?
        var endpoints: [RedisEndpoint] = []
        for text in texts {
            let url = try RedisURL(text, defaultPort: defaultPort)
            let model = first ?? url
            first = model
            guard url.user == model.user, url.password == model.password, url.database == model.database,
                url.isEncrypted == model.isEncrypted
            else { throw mistake("and another one differ in more than host and port") }
            if !endpoints.contains(url.endpoint) { endpoints.append(url.endpoint) }
        }
        guard let first else { throw TierError(.misconfigured, "there is no URL of a Redis server: name at least one") }
        return (first, endpoints)
    }

    private static func mistake(_ problem: String) -> TierError {
        TierError(
            .misconfigured,
            "a URL of a Redis server \(problem): write it as redis://user:password@host:port/database"
        )
    }
}
#endif
