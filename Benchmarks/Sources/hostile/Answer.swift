import Foundation
import Measuring
import WaystationTestSupport

/// The version of HTTP that a server speaks.
enum Version: String, CaseIterable {
    case http1, http2
}

/// The response that the server sends for a path.
enum Answer {
    case script(HostileResponse)
    /// A response that follows every rule.
    case sound([UInt8])
    /// A body without an end, as fast as the client reads it; the text is the path.
    case endless(String, isStorable: Bool)

    /// - Parameters:
    ///   - path: `/hostile/N`, `/sound/N` or `/endless/NAME`.
    ///   - seed: The seed of the run.
    ///   - version: The version of the connection.
    ///   - id: The stream of the request, in HTTP/2.
    init(to path: String, seed: UInt64, _ version: Version, on id: UInt32 = 1) {
        let parts = path.prefix { $0 != "?" }.split(separator: "/")
        switch (parts.first, parts.dropFirst().first.flatMap { Int($0) }) {
        case ("hostile", let number?):
            self = .script(Self.response(number, seed: seed, version, path: "/hostile/\(number)", on: id))
        case ("sound", let number?): self = .sound([UInt8](Self.soundBody(number)))
        case ("endless", _): self = .endless(path, isStorable: path.hasSuffix("/stored"))
        default: self = .sound([])
        }
    }

    /// The hostile response of a number; the stream does not change its kind and its ending.
    static func response(
        _ number: Int,
        seed: UInt64,
        _ version: Version,
        path: String = "",
        on id: UInt32 = 1
    ) -> HostileResponse {
        var random = SeededRandom(seed: seed &* 1_000_003 &+ UInt64(number))
        return version == .http1
            ? HostileHTTP1.response(to: path, using: &random)
            : HostileHTTP2.response(on: id, to: path, using: &random)
    }

    static func soundBody(_ number: Int) -> Data { Pattern.body(number, count: 20_000) }
}
