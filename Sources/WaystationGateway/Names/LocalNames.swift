#if Gateway
import Foundation
import Synchronization
import WaystationHTTP

/// Translates URLs of origins to URLs of the gateway, and back.
struct LocalNames: Sendable {
    /// The gateway's port.
    let port: Int
    /// Whether the inspector's name stands for the inspector, so that it stands for no origin.
    var hasInspector = false
    private let known = KnownNames()

    /// The name under which browsers reach the inspector.
    static let inspector = "waystation.localhost"

    private var authorityEnd: String { port == 80 ? "" : ":\(port)" }

    /// The origin that a `Host` field or the authority of a URL names; nil if the gateway stands for none of that name.
    ///
    /// The port must be the gateway's own: a page of another server on this machine may not use it.
    func origin(ofAuthority authority: some StringProtocol) -> OriginName? {
        known.origin(of: String(authority), read)
    }

    private func read(_ authority: String) -> OriginName? {
        let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, let name = parts.first else { return nil }
        // The port as a browser writes it: digits without a sign and without leading zeros.
        guard (parts.count == 2 ? parts[1] == "\(port)" : port == 80) else { return nil }
        return OriginName(name: name).flatMap { isReserved($0) ? nil : $0 }
    }

    /// The authority under which a browser reaches an origin; nil if the origin has no name.
    func authority(of origin: OriginName) -> String? { origin.name.map { $0 + authorityEnd } }

    /// The pattern of the authorities of all origins.
    var anyAuthority: String { "*.localhost" + authorityEnd }

    /// The gateway's URL that someone means by an authority in which the labels of a site stand apart, such as
    /// `shop.example.localhost`; nil for every other authority.
    func url(meantBy authority: String) -> String? {
        let name = authority.prefix { $0 != ":" }
        return OriginName(meantBy: name).flatMap { self.authority(of: $0) }.map { "http://\($0)/" }
    }

    /// The gateway's URL for an absolute URL of an origin; nil for other schemes and for hosts without a name.
    func local(_ url: String) -> String? {
        split(url).flatMap { origin, rest in
            isReserved(origin) ? nil : authority(of: origin).map { "http://\($0)\(rest)" }
        }
    }

    /// The origin's URL for an absolute URL of the gateway; nil for all other URLs.
    func remote(_ url: String) -> String? {
        guard let rest = Self.dropping("http://", from: url) else { return nil }
        let end = Self.authorityEnd(in: rest)
        return origin(ofAuthority: rest[..<end]).map { $0.serialized + rest[end...] }
    }

    /// The origin of an absolute URL, and the rest of the URL after the authority.
    func split(_ url: String) -> (origin: OriginName, rest: Substring)? {
        for scheme in ["https", "http"] {
            guard let rest = Self.dropping(scheme + "://", from: url) else { continue }
            let end = Self.authorityEnd(in: rest)
            let authority = rest[..<end]
            // A name and a password are not kept: a browser sends none, and would show them.
            let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? authority
            let parts = host.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 2, let name = parts.first else { return nil }
            let port = parts.count == 2 && !parts[1].isEmpty ? OriginName.port(parts[1]) : nil
            if parts.count == 2, !parts[1].isEmpty, port == nil { return nil }
            return OriginName(scheme: scheme, host: String(name), port: port).map { ($0, rest[end...]) }
        }
        return nil
    }

    /// Whether the name of an origin stands for the inspector.
    func isReserved(_ origin: OriginName) -> Bool { hasInspector && origin.name == Self.inspector }

    private static func authorityEnd(in rest: Substring) -> Substring.Index {
        rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" || $0 == "\\" } ?? rest.endIndex
    }

    private static func dropping(_ prefix: String, from url: String) -> Substring? {
        guard url.startsIgnoringCase(with: prefix) else { return nil }
        return Substring(url.utf8.dropFirst(prefix.utf8.count))
    }
}

/// The origins of the authorities that were read last: a browser sends the same ones with each request, in `Host` and in
/// `Referer`.
final class KnownNames: Sendable {
    /// When there are more, all are dropped.
    private static let limit = 64

    private let origins = Mutex<[String: OriginName]>([:])

    /// The origin of an authority.
    ///
    /// - Parameters:
    ///   - authority: The value of a `Host` field, or the authority of a URL.
    ///   - read: Reads the authority if it is not known.
    /// - Returns: The origin; nil if the authority names none.
    func origin(of authority: String, _ read: (String) -> OriginName?) -> OriginName? {
        if let known = origins.withLock({ $0[authority] }) { return known }
        guard let origin = read(authority) else { return nil }
        origins.withLock { origins in
            if origins.count >= Self.limit { origins.removeAll(keepingCapacity: true) }
            origins[authority] = origin
        }
        return origin
    }
}
#endif
