import Foundation
import FoundationNetworking
import WaystationTesting

extension Scenario {
    /// Content codings, well formed and not.
    static let codings: [Scenario] = [
        coded("coding/deflate", "deflate", "eJzLSM3JyQcABiwCFQ=="),
        coded("coding/deflate-without-zlib-header", "deflate", "y0jNyckHAA=="),
        coded("coding/x-gzip", "x-gzip", hello),
        coded("coding/identity", "identity", "aGVsbG8="),
        coded("coding/br", "br", "CwKAaGVsbG8D"),
        coded("coding/zstd", "zstd", "KLUv/SAFKQAAaGVsbG8="),
        // First deflate, then gzip.
        coded("coding/deflate-and-gzip", "deflate, gzip", "H4sIAAAAAAACA6uYc9rj7MmT7AxsOkyiAET+haoNAAAA"),
        coded("coding/unknown", "odd", "aGVsbG8="),
        coded("coding/none", "none", "aGVsbG8="),
        coded("coding/gzip-and-none", "gzip, none", hello),
        coded(
            "coding/second-gzip-member",
            "gzip",
            "H4sIAAAAAAACA8tIzcnJVwAA9vmB7QYAAAAfiwgAAAAAAAIDS0xPzMwDAPxboZMFAAAA"
        ),
        coded("coding/bytes-after-gzip", "gzip", "H4sIAAAAAAACA8tIzcnJBwCGphA2BQAAAG1vcmU="),
        coded("coding/cut-gzip", "gzip", "H4sIAAAAAAACA8tIzcnJzxiJBAA7ag=="),
    ]

    /// The text `hello`, compressed by gzip (RFC 1952).
    private static let hello = "H4sIAAAAAAACA8tIzcnJBwCGphA2BQAAAA=="

    /// Makes a load of a body that its origin sends with a coding; `body` is in Base64.
    private static func coded(_ name: String, _ coding: String, _ body: String) -> Scenario {
        Scenario(name) { _, _ in
            .ok(
                Data(base64Encoded: body) ?? Data(),
                fields: ["Content-Encoding": coding, "Content-Type": "text/plain"]
            )
        } run: {
            try await $0.load(.data, .completion, $0.request("/coded"))
        }
    }
}
