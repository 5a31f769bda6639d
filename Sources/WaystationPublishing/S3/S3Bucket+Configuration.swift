public import Foundation
public import WaystationPacks

extension S3Bucket {
    /// The part of a URL that names the bucket.
    public struct AddressingStyle: Sendable, Hashable {
        let isInHost: Bool
        /// `https://bucket.endpoint/key`.
        public static let virtualHost = AddressingStyle(isInHost: true)
        /// `https://endpoint/bucket/key`.
        public static let path = AddressingStyle(isInHost: false)
    }

    /// The settings of a bucket.
    public struct Configuration: Sendable {
        /// The credentials.
        public var credentials: S3Credentials
        /// The region; `us-east-1` by default.
        public var region: String
        /// The http or https URL of the store; nil, the default, for that of AWS in the region.
        public var endpoint: URL?
        /// The part of a URL that names the bucket; nil, the default, takes the host for AWS, and the path for other
        /// stores and for a bucket with dots in its name, which the certificate of a wildcard does not cover.
        public var addressing: AddressingStyle?
        /// Sends the requests; by default, a fetcher with Foundation's default limits.
        public var fetcher: any PackFetching

        /// Makes a configuration.
        public init(
            credentials: S3Credentials,
            region: String = "us-east-1",
            endpoint: URL? = nil,
            addressing: AddressingStyle? = nil,
            fetcher: any PackFetching = URLSessionFetcher.shared
        ) {
            self.credentials = credentials
            self.region = region
            self.endpoint = endpoint
            self.addressing = addressing
            self.fetcher = fetcher
        }

        /// Reads the environment variables that tools for S3 share: those of ``S3Credentials/init(environment:)``,
        /// `AWS_REGION` or `AWS_DEFAULT_REGION`, and `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`.
        ///
        /// - Throws: ``WaystationPacks/PackError`` with `invalidArgument` for missing credentials, or an endpoint that
        ///   is no URL.
        public init(environment: [String: String]) throws(PackError) {
            func value(_ names: String...) -> (name: String, text: String)? {
                for name in names {
                    if let text = environment[name], !text.isEmpty { return (name, text) }
                }
                return nil
            }
            self.init(credentials: try S3Credentials(environment: environment))
            if let region = value("AWS_REGION", "AWS_DEFAULT_REGION") { self.region = region.text }
            guard let endpoint = value("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL") else { return }
            guard let url = URL(string: endpoint.text) else {
                throw PackError(
                    .invalidArgument,
                    "\(endpoint.name) is not a URL: use one such as https://s3.example.com"
                )
            }
            self.endpoint = url
        }
    }
}
