/// The methods that may be sent again when it is unknown whether the server acted on a request (RFC 9110 §9.2.2).
package enum IdempotentMethods {
    /// PROPFIND is that of RFC 4918 §9.1.
    private static let names: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "PROPFIND"]

    package static func contains(_ method: String) -> Bool { names.contains(method) }
}
