import Foundation
import FoundationNetworking
import WaystationTesting

extension Scenario {
    /// Answers with status 401, and the ways to respond to them.
    static let challenges: [Scenario] = [
        basic("401/basic/no-delegate/completion") { stage in
            try await stage.load(.data, .completion, stage.request("/private"))
        },
        basic("401/basic/no-delegate/async") { stage in
            try await stage.load(.data, .async, stage.request("/private"))
        },
        basic("401/basic/credential", delegate: .credential(user: "user", password: "right")),
        basic("401/basic/wrong-credential", delegate: .credential(user: "user", password: "wrong")),
        basic("401/basic/default", delegate: .standard),
        basic("401/basic/cancel", delegate: .cancel),
        basic("401/basic/reject", delegate: .reject),
        basic("401/basic/task-delegate") { stage in
            let observer = Observer(stage.sightings, challenge: .credential(user: "user", password: "right"))
            try await stage.load(.data, .taskDelegate, stage.request("/private"), observer: observer)
        },
        basic("401/basic/own-header") { stage in
            var request = stage.request("/private")
            request.setValue(authorization, forHTTPHeaderField: "Authorization")
            try await stage.load(.data, .completion, request)
        },
        basic("401/basic/no-storage") { stage in
            try await stage.load(.data, .completion, stage.request("/private")) { $0.urlCredentialStorage = nil }
        },
        basic("401/basic/post") { stage in
            let observer = Observer(stage.sightings, challenge: .credential(user: "user", password: "right"))
            let request = stage.request("/private", "POST", body: Data("posted".utf8))
            try await stage.load(.data, .delegate, request, observer: observer)
        },
        Scenario("401/no-www-authenticate/completion", repeats: true) { _, _ in
            .status(401, body: Data("no".utf8))
        } run: {
            try await $0.load(.data, .completion, $0.request("/private"))
        },
        Scenario("401/no-www-authenticate/delegate") { _, _ in
            .status(401, body: Data("no".utf8))
        } run: {
            try await $0.load(.data, .delegate, $0.request("/private"))
        },
        Scenario("401/digest/credential") { request, _ in
            request.value(of: "Authorization")?.hasPrefix("Digest") == true
                ? .ok("welcome")
                : .status(401, fields: ["WWW-Authenticate": digest], body: Data("no".utf8))
        } run: { stage in
            let observer = Observer(stage.sightings, challenge: .credential(user: "user", password: "right"))
            try await stage.load(.data, .delegate, stage.request("/private"), observer: observer)
        },
        Scenario("401/unknown-scheme", required: ["status": "401"]) { _, _ in
            .status(401, fields: ["WWW-Authenticate": "Odd realm=\"x\""], body: Data("no".utf8))
        } run: {
            try await $0.load(.data, .completion, $0.request("/private"))
        },
        Scenario("407/completion") { _, _ in
            .status(407, fields: ["Proxy-Authenticate": "Basic realm=\"x\""], body: Data("no".utf8))
        } run: {
            try await $0.load(.data, .completion, $0.request("/private"))
        },
    ]

    private static let digest = "Digest realm=\"x\", nonce=\"abc\", qop=\"auth\", algorithm=MD5"
    private static let authorization = "Basic \(Data("user:right".utf8).base64EncodedString())"

    private static func basic(_ name: String, delegate: Observer.Challenge) -> Scenario {
        basic(name) { stage in
            let observer = Observer(stage.sightings, challenge: delegate)
            try await stage.load(.data, .delegate, stage.request("/private"), observer: observer)
        }
    }

    private static func basic(_ name: String, run: @escaping @Sendable (Stage) async throws -> Void) -> Scenario {
        Scenario(name, required: ["status": "401", "error": "none"]) { request, _ in
            request.value(of: "Authorization") == authorization
                ? .ok("welcome \(request.body.count)")
                : .status(401, fields: ["WWW-Authenticate": "Basic realm=\"x\""], body: Data("no".utf8))
        } run: {
            try await run($0)
        }
    }
}
