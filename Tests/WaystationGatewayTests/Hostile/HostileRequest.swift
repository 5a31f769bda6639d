#if Gateway
import Foundation
import Testing
import WaystationTesting

/// A request that a gateway must refuse, byte for byte.
///
/// | Text | Meaning |
/// | --- | --- |
/// | `HOST` | the name of the origin at the gateway, with the gateway's port |
/// | `NAME`, `PORT` | the two parts of it |
/// | `SHOP` | the name of a site of files, with the gateway's port |
/// | `ORIGIN` | the address and the port of the origin itself |
/// | `NUMBER` | the port of the origin itself |
struct HostileRequest: Sendable, CustomTestStringConvertible {
    /// A description of the attack.
    let attempt: String
    let text: String
    /// Whether the gateway is a proxy, too.
    var isProxy = false
    /// Whether the client ends its side of the connection, because the request is not whole.
    var isIncomplete = false

    var testDescription: String { attempt }

    /// The bytes: each character of the text is one byte.
    func bytes(_ fixture: GatewayFixture, _ origin: ScriptedOrigin) -> Data {
        let host = fixture.name(of: origin)
        let filled = text.replacing("HOST", with: host).replacing("SHOP", with: fixture.shop)
            .replacing("NAME", with: host.prefix { $0 != ":" }).replacing("PORT", with: "\(fixture.port)")
            .replacing("ORIGIN", with: "127.0.0.1:\(origin.port)").replacing("NUMBER", with: "\(origin.port)")
        return Data(filled.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
    }

    /// All of them.
    static let all =
        hosts + targets + proxyTargets + connects + requestLines + fieldLines + lengths + codings + chunks + sizes
        + otherProtocols + pages + expectations

    // MARK: - Forms

    static func host(_ value: String) -> HostileRequest {
        HostileRequest(attempt: "the host “\(value.prefix(60))”", text: "GET / HTTP/1.1\r\nHost: \(value)\r\n\r\n")
    }

    static func target(_ target: String, host: String = "HOST", method: String = "GET") -> HostileRequest {
        HostileRequest(
            attempt: "the target “\(method) \(target.prefix(60))” at \(host)",
            text: "\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\n\r\n"
        )
    }

    /// A request with further lines of its head.
    static func lines(_ attempt: String, _ lines: String, method: String = "GET") -> HostileRequest {
        HostileRequest(attempt: attempt, text: "\(method) / HTTP/1.1\r\nHost: HOST\r\n\(lines)\r\n\r\n")
    }

    /// A request with a body.
    static func body(_ attempt: String, _ framing: String, _ body: String) -> HostileRequest {
        HostileRequest(attempt: attempt, text: "POST / HTTP/1.1\r\nHost: HOST\r\n\(framing)\r\n\r\n\(body)")
    }

    static func incomplete(_ request: HostileRequest) -> HostileRequest {
        var request = request
        request.isIncomplete = true
        return request
    }

    static func long(_ count: Int) -> String { String(repeating: "a", count: count) }
}
#endif
