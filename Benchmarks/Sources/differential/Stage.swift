import Foundation
import FoundationNetworking
import Measuring
import WaystationTesting

/// The environment of one run of a scenario: its servers, its sessions, and its observations.
final class Stage: Sendable {
    /// The time after which a load counts as one that does not end.
    private static let patience: Duration = .seconds(6)
    /// The time to watch for calls after the end, of which there must be none.
    private static let settling: Duration = .milliseconds(80)

    let servers: Servers
    let sightings = Sightings()
    let directory: URL
    private let intercepted: InterceptedSession
    /// The number of requests that each server had received before this run.
    private let before: [String: Int]

    init(_ servers: Servers, intercepted: InterceptedSession, directory: URL) {
        self.servers = servers
        self.intercepted = intercepted
        self.directory = directory
        before = [:]
    }

    /// Makes the stage of a second run with the same servers and the same interceptor; it observes only new requests.
    init(after first: Stage) {
        servers = first.servers
        intercepted = first.intercepted
        directory = first.directory
        before = first.servers.requests.mapValues(\.count)
    }

    var origin: ScriptedOrigin { servers.origin }
    var other: ScriptedOrigin { servers.other }
    var gate: ScriptedOrigin.Gate { servers.gate }
    /// The port of the server with TLS.
    var securePort: UInt16 { servers.front?.port ?? servers.http2?.port ?? 0 }

    func configuration(_ change: (URLSessionConfiguration) -> Void = { _ in }) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.default
        change(configuration)
        return intercepted.configuration(configuration)
    }

    func session(
        _ delegate: Observer? = nil,
        _ change: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        URLSession(configuration: configuration(change), delegate: delegate, delegateQueue: nil)
    }

    func request(_ target: String = "/", _ method: String = "GET", body: Data? = nil) -> URLRequest {
        var request = URLRequest(url: origin.url(target))
        request.httpMethod = method
        request.httpBody = body
        return request
    }

    /// Waits until the load ends, before a script notes facts about the servers.
    func waitForEnd() async { _ = await sightings.waitForEnd(atMost: Self.patience) }

    /// Waits until the observed load ends, watches a little longer, and returns the observation.
    func observation() async throws -> Outcome {
        let ended = await sightings.waitForEnd(atMost: Self.patience)
        try await Task.sleep(for: Self.settling)
        var observation = sightings.observation
        for (server, requests) in servers.requests {
            let seen = Array(requests.dropFirst(before[server] ?? 0))
            guard server == "origin" || !seen.isEmpty else { continue }
            observation[server] = (observation["order"] == nil ? seen : seen.sorted()).joined(separator: " ; ")
        }
        // A fact of its own, since the engine does not send it: all other fields must be the same.
        observation["proxy-connection"] = servers.proxy?.requests.last?.value(of: "Proxy-Connection")
        observation.facts = observation.facts.mapValues(servers.named)
        return ended ? .observed(observation) : .hung(observation)
    }
}
