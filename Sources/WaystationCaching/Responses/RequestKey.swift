/// The key of a stored response: one method on one URL, within one partition.
///
/// Keys are compared byte for byte. Two spellings of one URL are two keys, so canonicalise URLs first.
public struct RequestKey: Hashable, Sendable {
    /// The method as sent, such as `GET`.
    ///
    /// Methods are case-sensitive (RFC 9110 §9.1).
    public let method: String

    /// The canonical absolute URL, query included, without its fragment.
    public let url: String

    /// Separates the responses of callers who must not see each other's, such as two logins.
    ///
    /// The default, the empty string, is the partition that all callers share.
    public let partition: String

    /// Makes a key.
    public init(method: String, url: String, partition: String = "") {
        self.method = method
        self.url = url
        self.partition = partition
    }
}
