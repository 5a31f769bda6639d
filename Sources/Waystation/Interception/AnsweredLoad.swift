package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A load that has ended at once with a whole response.
package struct AnsweredLoad: Sendable {
    /// The request with the rule that took it.
    let hop: Hop
    /// The response; a source that answers with the same object again means the same body, too.
    package let response: HTTPURLResponse
    package let body: Data

    init(_ hop: Hop, _ response: HTTPURLResponse, _ body: Data) {
        (self.hop, self.response, self.body) = (hop, response, body)
    }
}
