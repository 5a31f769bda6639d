import Foundation
import WaystationPacks

/// The URLs of a bucket's objects.
struct S3Address: Sendable {
    /// The scheme, `http` or `https`.
    let scheme: String
    /// The host, with its port unless that is the scheme's own.
    let host: String
    /// The percent-encoded path of the bucket, without a slash at its end.
    let path: String

    init(
        _ bucket: String,
        region: String,
        endpoint: URL?,
        style: S3Bucket.AddressingStyle?
    ) throws(PackError) {
        let isOwn = endpoint == nil
        guard region.wholeMatch(of: /[A-Za-z0-9-]+/) != nil else {
            throw PackError(.invalidArgument, "\(region) is no region: use a name such as eu-central-1")
        }
        let url = endpoint ?? URL(string: "https://s3.\(region).amazonaws.com")
        guard let url, let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let scheme = parts.scheme?.lowercased(), ["http", "https"].contains(scheme),
            let name = parts.percentEncodedHost, !name.isEmpty, parts.user == nil, parts.query == nil,
            parts.fragment == nil
        else {
            throw PackError(
                .invalidArgument,
                "the endpoint of the store is not an http or https URL: use one such as https://s3.example.com"
            )
        }
        let port = parts.port.flatMap { $0 == ["http": 80, "https": 443][scheme] ? nil : ":\($0)" } ?? ""
        var base = parts.percentEncodedPath
        while base.hasSuffix("/") { base.removeLast() }
        let isInHost = (style ?? (isOwn && !bucket.contains(".") ? .virtualHost : .path)).isInHost
        self.scheme = scheme
        host = (isInHost ? "\(bucket)." : "") + name + port
        path = base + (isInHost ? "" : "/\(bucket)")
    }

    /// The percent-encoded path of an object; of the bucket itself for an empty key.
    func path(of key: String) -> String { "\(path)/\(key)" }
}
