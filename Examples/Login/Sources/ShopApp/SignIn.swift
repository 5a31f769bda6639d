import Foundation
import FoundationNetworking
import Synchronization
import Waystation

/// Fetches tokens: it shows the form once, remembers the credentials, and uses them for later tokens too.
final class SignIn: Sendable {
    private struct Memory {
        var credentials: Credentials?
        /// The number of log-outs: credentials that were typed in before a log-out are not remembered after it.
        var logouts = 0
    }

    private struct Granted: Decodable {
        let token: String
        let expiresIn: TimeInterval
    }

    private let address: URL
    private let patience: TimeInterval
    private let now: @Sendable () -> Date
    private let form: @Sendable () async throws -> Credentials
    /// A separate session: a request that needs the login would wait for itself.
    private let session: URLSession
    private let memory = Mutex(Memory())

    init(
        at address: URL,
        patience: TimeInterval,
        now: @escaping @Sendable () -> Date,
        form: @escaping @Sendable () async throws -> Credentials
    ) {
        self.address = address
        self.patience = patience
        self.now = now
        self.form = form
        session = URLSession(configuration: .ephemeral)
    }

    /// Fetches a token, the first one or one that replaces a refused token; shows the form at most once.
    func token() async throws -> LoginToken {
        let known = memory.withLock { $0 }
        let credentials = if let remembered = known.credentials { remembered } else { try await form() }
        var request = URLRequest(url: address, timeoutInterval: patience)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(credentials)
        let granted = try await session.json(Granted.self, for: request)
        memory.withLock { if $0.logouts == known.logouts { $0.credentials = credentials } }
        return LoginToken(granted.token, expires: now().addingTimeInterval(granted.expiresIn))
    }

    func close() { session.finishTasksAndInvalidate() }

    func forget() {
        memory.withLock { memory in
            memory.credentials = nil
            memory.logouts += 1
        }
    }
}
