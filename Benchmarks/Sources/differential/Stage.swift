import Foundation
import FoundationNetworking
import Measuring
import Synchronization
import WaystationTesting

/// The environment of one run of a scenario: its servers, its sessions, and its observations.
final class Stage: Sendable {
    /// The time-out of a request that sets none, in seconds: longer than a load is watched.
    private static let timeout = 300.0
    /// How long this process may use a processor for one step of a load, in seconds.
    ///
    /// The loads that come to this limit do not end: Foundation's engine reads the body of a redirect without an end.
    private static let work = 15.0
    /// The time to watch for calls after the end, of which there must be none.
    private static let settling: Duration = .milliseconds(80)

    let servers: Servers
    let sightings = Sightings()
    let directory: URL
    private let intercepted: InterceptedSession
    /// How long a load may make no progress before it counts as one that hangs, in seconds.
    private let patience: Double
    private let hasBeenObserved = Atomic(false)
    /// The number of requests that each server had received before this run.
    private let before: [String: Int]

    init(_ servers: Servers, intercepted: InterceptedSession, patience: Double, directory: URL) {
        self.servers = servers
        self.intercepted = intercepted
        self.patience = patience
        self.directory = directory
        before = [:]
    }

    /// Makes the stage of a second run with the same servers and the same interceptor; it observes only new requests.
    init(after first: Stage) {
        servers = first.servers
        intercepted = first.intercepted
        patience = first.patience
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
        configuration.timeoutIntervalForRequest = Self.timeout
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
    func waitForEnd() async { await sightings.waitForEnd() }

    /// Calls `hung` if this run makes no progress: if no call, no bytes and no request are seen, and the process, in which
    /// the servers are as well, uses no processor.
    func watch(_ hung: @escaping @Sendable (Observation) -> Void) {
        StallWatch.begin(patience: patience, work: Self.work) { [self] in
            hasBeenObserved.load(ordering: .relaxed) ? nil : sightings.count + servers.requestCount
        } stalled: { [self] in
            hung(currentObservation)
        }
    }

    /// Waits until the observed load ends, watches a little longer, and returns the observation.
    func observation() async throws -> Observation {
        await waitForEnd()
        try await Task.sleep(for: Self.settling)
        hasBeenObserved.store(true, ordering: .relaxed)
        return currentObservation
    }

    private var currentObservation: Observation {
        var observation = sightings.observation
        for (server, requests) in servers.requests {
            let seen = Array(requests.dropFirst(before[server] ?? 0))
            guard server == "origin" || !seen.isEmpty else { continue }
            observation[server] = (observation["order"] == nil ? seen : seen.sorted()).joined(separator: " ; ")
        }
        // A fact of its own, since the engine does not send it: all other fields must be the same.
        observation["proxy-connection"] = servers.proxy?.requests.last?.value(of: "Proxy-Connection")
        observation.facts = observation.facts.mapValues(servers.named)
        return observation
    }
}
