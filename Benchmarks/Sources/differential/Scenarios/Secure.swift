import Foundation
import FoundationNetworking
import WaystationTesting

extension Scenario {
    /// Loads over TLS, from servers that prove their identity and from servers that do not.
    static let secure: [Scenario] =
        Way.allCases.map { way in
            secure("tls/\(way.rawValue)") {
                try await $0.load(.data, way, from: "https://localhost:\($0.securePort)/a?b")
            }
        }
        + ["localhost", "127.0.0.1"].flatMap { host in
            ["name", "address", "expired", "stranger"].map { certificate in
                secure("tls/certificate-\(certificate)/at-\(host)", certificate) {
                    try await $0.load(.data, .completion, from: "https://\(host):\($0.securePort)/")
                }
            }
        }
        + [
            secure("tls/stranger/delegate", "stranger") {
                try await $0.load(.data, .delegate, from: "https://localhost:\($0.securePort)/")
            },
            secure("tls/POST") { stage in
                try await stage.load(.data, .completion, from: "https://localhost:\(stage.securePort)/form") {
                    request in
                    request.httpMethod = "POST"
                    request.httpBody = Data("posted".utf8)
                }
            },
            secure("tls/download") {
                try await $0.load(.download, .delegate, from: "https://localhost:\($0.securePort)/file")
            },
            secure("tls/one-after-the-other") { stage in
                let session = stage.session()
                for number in 0..<3 {
                    guard let url = URL(string: "https://localhost:\(stage.securePort)/\(number)") else { return }
                    let (data, _) = try await session.data(from: url)
                    stage.sightings.call(String(decoding: data, as: UTF8.self))
                }
                stage.note(connectionsOf: stage.origin)
                stage.sightings.end()
            },
            secure("tls/plaintext-port") {
                try await $0.load(.data, .completion, from: "https://127.0.0.1:\($0.origin.port)/")
            },
            secure("tls/http-at-tls-port") {
                try await $0.load(.data, .completion, from: "http://127.0.0.1:\($0.securePort)/")
            },
            secure("tls/refused") { stage in
                stage.other.stop()
                try await stage.load(.data, .completion, from: "https://localhost:\(stage.other.port)/")
            },
        ]

    private static func secure(
        _ name: String,
        _ certificate: String = "name",
        run: @escaping @Sendable (Stage) async throws -> Void
    ) -> Scenario {
        Scenario(
            name,
            setting: Setting(certificate: certificate),
            origin: { request, _ in .ok("answer to \(request.target)") },
            run: run
        )
    }
}
