public import WaystationPacks

/// A bucket, and the prefix of the keys in it: `s3://bucket/prefix`.
public struct S3Location: Sendable, Hashable, CustomStringConvertible {
    /// The bucket's name.
    public let bucket: String
    /// The prefix without slashes at its ends; empty for the whole bucket.
    public let prefix: String

    /// Whether a text is the address of a bucket, and not the path of a directory.
    public static func isAddress(_ text: String) -> Bool { text.lowercased().hasPrefix("s3:") }

    /// Reads an address such as `s3://releases/shop`.
    ///
    /// - Throws: ``WaystationPacks/PackError`` with `invalidArgument`.
    public init(_ text: String) throws(PackError) {
        guard text.lowercased().hasPrefix("s3://") else {
            throw PackError(.invalidArgument, "\(text) is not the address of a bucket: use s3://bucket/prefix")
        }
        let parts = text.dropFirst("s3://".count).split(separator: "/", omittingEmptySubsequences: false)
        let bucket = String(parts.first ?? "")
        guard bucket.wholeMatch(of: /[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/) != nil else {
            throw PackError(
                .invalidArgument,
                "\(text) names no valid bucket: a name has 3 to 63 lower-case letters, digits, '-' and '.'"
            )
        }
        var names = parts.dropFirst().map(String.init)
        if names.last == "" { names.removeLast() }
        let isValid = names.allSatisfy { name in
            name.wholeMatch(of: /[A-Za-z0-9._-]+/) != nil && name != "." && name != ".."
        }
        guard isValid else {
            throw PackError(
                .invalidArgument,
                "\(text) has no valid prefix: use letters, digits, '.', '_' and '-', with '/' between names, so that "
                    + "it needs no encoding in a URL"
            )
        }
        self.bucket = bucket
        prefix = names.joined(separator: "/")
    }

    /// The address.
    public var description: String { prefix.isEmpty ? "s3://\(bucket)" : "s3://\(bucket)/\(prefix)" }

    /// The whole key of an object below the prefix.
    func key(_ relative: String) -> String { prefix.isEmpty ? relative : "\(prefix)/\(relative)" }
}

/// The credentials of an S3-compatible store; their description shows no secret.
public struct S3Credentials: Sendable, Hashable, CustomStringConvertible {
    /// The id of the access key.
    public var accessKey: String
    /// The secret access key.
    public var secretKey: String
    /// The token of temporary credentials; nil for permanent ones.
    public var sessionToken: String?

    /// Makes credentials.
    public init(accessKey: String, secretKey: String, sessionToken: String? = nil) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
    }

    /// Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.
    ///
    /// - Throws: ``WaystationPacks/PackError`` with `invalidArgument` if one of the first two is missing or empty.
    public init(environment: [String: String]) throws(PackError) {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        let names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]
        guard let accessKey = value(names[0]), let secretKey = value(names[1]) else {
            let missing = names.filter { value($0) == nil }.joined(separator: " and ")
            throw PackError(
                .invalidArgument,
                "the bucket needs credentials: set \(missing) in the environment, and AWS_SESSION_TOKEN for temporary "
                    + "credentials"
            )
        }
        self.init(accessKey: accessKey, secretKey: secretKey, sessionToken: value("AWS_SESSION_TOKEN"))
    }

    /// The id of the access key.
    public var description: String { accessKey }
}

extension S3Credentials: CustomReflectable {
    /// Shows no secret, for dumps and logs.
    public var customMirror: Mirror { Mirror(self, children: ["accessKey": accessKey]) }
}
