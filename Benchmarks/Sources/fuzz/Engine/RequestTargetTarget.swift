#if DEBUG || TESTABLE
import Foundation
import NIOHTTP1
@testable import WaystationGateway

/// Reads the target of a request to a gateway: a line with the method and the target, and a line with the field `Host`.
///
/// The gateway must read the same host, port and scheme from a request target as the client that wrote it.
struct RequestTargetTarget: FuzzTarget {
    let maximumLength = 1_000
    private let proxy = TargetReader(names: LocalNames(port: 8080, hasInspector: true), isProxy: true)
    private let secured = OriginName(scheme: "https", host: "shop.example", port: 8443).map {
        TargetReader(names: LocalNames(port: 8080), isProxy: true, secured: $0)
    }

    func seeds() throws -> [Data] {
        [
            "CONNECT shop.example:443\nshop.example:443", "CONNECT [::1]:8443\n[::1]:8443",
            "CONNECT 127.0.0.1:80\n127.0.0.1:80", "CONNECT 0x7f.1:443\n0x7f.1:443",
            "CONNECT Shop_1:65535\nshop_1:65535",
            "GET http://shop.example/a?b=%41\nshop.example", "GET http://shop.example:8000\nshop.example:8000",
            "GET http://a-example.localhost:8080/%zz{}\na-example.localhost:8080", "OPTIONS *\nlocalhost:8080",
            "POST /a/../b?c\nshop-example-8443.localhost:8080", "GET /\n127-0-0-1-8000-http.localhost:8080",
            "GET https://shop.example:8443/x\nshop.example:8443", "GET /x\nshop.example:8443",
        ]
        .map { Data($0.utf8) }
    }

    func run(_ input: Data) throws {
        // The parser of HTTP lets no line break through.
        let lines = String(decoding: input, as: UTF8.self).split(
            separator: "\n",
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        let words = lines[0].split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard lines.count == 2, words.count == 2 else { return }
        let (method, target, host) = (String(words[0]), String(words[1]), String(lines[1]))
        let head = HTTPRequestHead(
            version: .http1_1,
            method: HTTPMethod(rawValue: method),
            uri: target,
            headers: ["Host": host]
        )
        for reader in [proxy, secured].compactMap(\.self) {
            switch try? reader.target(of: head) {
            case .tunnel(let name, let port)?:
                let authority = name.contains(":") ? "[\(name)]:\(port)" : "\(name):\(port)"
                try Finding.unless(authority == target, "\(target) is a tunnel to \(authority)")
                try Finding.unless(reader.secured == nil, "a tunnel within a connection over TLS")
                try Finding.unless((1...65_535).contains(port), "\(port) is no port")
            case .named(let url, let origin)?:
                try check(url, is: origin)
                let authority = reader.names.authority(of: origin)
                try Finding.unless(authority == host.lowercased(), "\(host) stands for \(origin)")
            case .proxied(let url)?:
                if let secured = reader.secured {
                    try check(url, is: secured)
                } else {
                    let port = url.port.map { ":\($0)" } ?? ""
                    let hosts = [(url.host ?? "") + port, (url.host ?? "") + ":80", (url.host ?? "") + ":"]
                    try Finding.unless(url.scheme == "http", "\(target) is \(url)")
                    try Finding.unless(hosts.contains(host.lowercased()), "\(host) is the host of \(url)")
                }
            case nil: break
            }
        }
    }

    private func check(_ url: URL, is origin: OriginName) throws {
        let same = url.scheme == origin.scheme && url.host == origin.host && url.port == origin.port && url.user == nil
        try Finding.unless(same, "\(url) is not of \(origin)")
    }
}
#endif
