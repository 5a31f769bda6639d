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
