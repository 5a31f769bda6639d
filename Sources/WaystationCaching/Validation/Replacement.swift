package import HTTPTypes

/// The effect of a full response to a GET on the stored responses of its target (RFC 9111 §4.3.3).
package struct Replacement: Sendable {
    /// The indices of the stored responses that the response shows to be outdated.
    package let outdated: [Int]
    /// Whether the response may be stored.
    ///
    /// An error or a refusal never replaces a good response: a 503, 403 or 429 is about one request, and the stored
    /// response is still what the target was last known to be.
    package let mayBeStored: Bool

    /// Determines the effect of a response.
    ///
    /// - Parameters:
    ///   - status: The status code of the response.
    ///   - request: The request that it answers.
    ///   - stored: All stored responses of the target.
    package init(by status: Int, to request: HTTPRequest, among stored: [StoredHead]) {
        let selectable = stored.indices.filter { stored[$0].mayAnswer(request) }
        let describesTarget = Self.describesTarget(status)
        outdated = describesTarget ? selectable : []
        mayBeStored = describesTarget || !selectable.contains { Self.describesTarget(stored[$0].status) }
    }

    /// Whether a response with this status code describes the present state of its target, or its absence.
    ///
    /// A 206 is a part of it, and a 304 answers a condition of the client.
    package static func describesTarget(_ status: Int) -> Bool {
        switch status {
        case 206, 304: false
        case 200..<400, 404, 410: true
        default: false
        }
    }
}
