public import WaystationPacks

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
