import Foundation
import FoundationNetworking
import Measuring
import WaystationTesting

/// The environment of one run of a scenario: its origins, its sessions, and its observations.
final class Stage: Sendable {
    /// The time after which a load counts as one that does not end.
    private static let patience: Duration = .seconds(6)
    /// The time to watch for calls after the end, of which there must be none.
    private static let settling: Duration = .milliseconds(80)

    let origin: ScriptedOrigin
    /// A second origin, for redirects from one origin to another.
    let other: ScriptedOrigin
    let gate: ScriptedOrigin.Gate
    let sightings = Sightings()
    let directory: URL
    private let intercepted: InterceptedSession
    /// The number of requests that the origins had received before this run.
    private let before: (origin: Int, other: Int)

    init(_ scenario: Scenario, intercepted: InterceptedSession, directory: URL) throws {
        let gate = try ScriptedOrigin.Gate()
        self.gate = gate
        self.intercepted = intercepted
        self.directory = directory
        other = try ScriptedOrigin { request in .ok("other \(request.method) \(request.target)") }
        let props = Scenario.Props(gate: gate, otherPort: other.port)
        origin = try ScriptedOrigin { scenario.origin($0, props) }
        before = (0, 0)
    }

    /// Makes the stage of a second run with the same origins and the same interceptor; it observes only new requests.
    init(after first: Stage) {
        gate = first.gate
        intercepted = first.intercepted
        directory = first.directory
        other = first.other
        origin = first.origin
        before = (first.origin.requests.count, first.other.requests.count)
    }

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

    /// Waits until the observed load ends, watches a little longer, and returns the observation.
    func observation() async throws -> Outcome {
        let ended = await sightings.waitForEnd(atMost: Self.patience)
        try await Task.sleep(for: Self.settling)
        var observation = sightings.observation
        let seen = origin.requests.dropFirst(before.origin).map(\.seen)
        observation["origin"] = (observation["order"] == nil ? seen : seen.sorted()).joined(separator: " ; ")
        let crossed = other.requests.dropFirst(before.other).map(\.seen)
        if !crossed.isEmpty { observation["other"] = crossed.joined(separator: " ; ") }
        for (name, fact) in observation.facts {
            observation[name] =
                fact
                .replacingOccurrences(of: "127.0.0.1:\(origin.port)", with: "ORIGIN")
                .replacingOccurrences(of: "127.0.0.1:\(other.port)", with: "OTHER")
        }
        return ended ? .observed(observation) : .hung(observation)
    }
}

extension ScriptedOrigin.Request {
    /// Everything in a request that does not change from run to run.
    fileprivate var seen: String {
        let fields = fields.compactMap { field -> String? in
            switch field.name.lowercased() {
            case "sec-websocket-key": nil
            // The client's nonce is random.
            case "authorization" where field.value.hasPrefix("Digest"): "Authorization: Digest"
            default: field.description
            }
        }
        return "\(method) \(target) {\(fields.sorted().joined(separator: ", "))} \(Fingerprint(body))"
    }
}
