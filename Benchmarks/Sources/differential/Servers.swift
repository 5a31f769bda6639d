import Foundation
import Measuring
import WaystationTesting

/// The servers of a scenario, in the process that loads from them.
final class Servers: Sendable {
    let origin: ScriptedOrigin
    /// A second origin, for redirects from one origin to another.
    let other: ScriptedOrigin
    /// The TLS server that passes everything on to the origin, in scenarios that have one.
    let front: SecureListener?
    /// The origin that speaks HTTP/2, in scenarios that have one.
    let http2: HTTP2Origin?
    /// The proxy that the environment names, in scenarios that have one.
    let proxy: ScriptedOrigin?
    /// An address that does not answer, in scenarios that have one.
    let blackHole: BlackHole?
    let gate: ScriptedOrigin.Gate
    let laterGates: [ScriptedOrigin.Gate]
    /// The variables of the process's environment that name the proxy.
    let environment: [String: String]

    /// Starts the servers of a scenario; those with TLS need the folder of the certificates.
    init(_ scenario: Scenario, certificates: URL?) throws {
        let setting = scenario.setting
        let gate = try ScriptedOrigin.Gate()
        self.gate = gate
        let laterGates = try (0..<3).map { _ in try ScriptedOrigin.Gate() }
        self.laterGates = laterGates
        let other = try ScriptedOrigin { request in .ok("other \(request.method) \(request.target)") }
        self.other = other
        var props = Scenario.Props(gate: gate, laterGates: laterGates, otherPort: other.port)
        let origin = try ScriptedOrigin(early: scenario.early) { [props] in scenario.origin($0, props) }
        self.origin = origin

        let certificate = setting.certificate.flatMap { certificates?.appendingPathComponent($0).path }
        http2 = try setting.http2.flatMap { script in
            try certificate.map { try HTTP2Origin(certificate: $0, script) }
        }
        front =
            setting.http2 == nil
            ? try certificate.map { try SecureListener(certificate: $0, passingTo: origin.port) } : nil
        props.securePort = http2?.port ?? front?.port ?? 0
        let proxy = try setting.proxy.map { script in try ScriptedOrigin { [props] in script($0, props) } }
        self.proxy = proxy
        environment = setting.environment.mapValues {
            $0.replacingOccurrences(of: "PROXY", with: "127.0.0.1:\(proxy?.port ?? 0)")
        }
        blackHole =
            switch setting.blackHole {
            case .none: nil
            case .ipv4: try BlackHole(isIPv6: false)
            case .ipv6BesideOrigin: try BlackHole(isIPv6: true, port: origin.port)
            }
    }

    /// The requests that each server has received so far, without what changes from run to run.
    var requests: [String: [String]] {
        [
            "origin": (http2?.seen.requests ?? []) + origin.requests.map(\.seen), "other": other.requests.map(\.seen),
            "proxy": proxy?.requests.map(\.seen) ?? [],
        ]
    }

    /// How many requests the servers have received so far.
    var requestCount: Int {
        (http2?.seen.requests.count ?? 0) + [origin, other, proxy].reduce(0) { $0 + ($1?.requests.count ?? 0) }
    }

    /// A text of this run with the servers' names in place of their addresses, which vary from run to run.
    func named(_ text: String) -> String {
        let ports = [
            ("ORIGIN", origin.port), ("OTHER", other.port), ("SECURE", front?.port), ("HTTP2", http2?.port),
            ("PROXY", proxy?.port), ("HOLE", blackHole?.port),
        ]
        return ports.reduce(text) { text, server in
            guard let port = server.1 else { return text }
            return text.replacingOccurrences(of: "127.0.0.1:\(port)", with: server.0)
                .replacingOccurrences(of: ":\(port)", with: ":\(server.0)")
        }
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
            // A fact of its own.
            case "proxy-connection": nil
            default: field.description
            }
        }
        return "\(method) \(target) {\(fields.sorted().joined(separator: ", "))} \(Fingerprint(body))"
    }
}
