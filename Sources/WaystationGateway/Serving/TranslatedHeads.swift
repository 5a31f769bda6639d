#if Gateway
import NIOHTTP1
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#else
import Foundation
#endif

/// The part of the head of a response that is the same for every request by the same kind of name.
struct TranslatedHead: Sendable {
    var headers: HTTPHeaders
    /// The number of bytes of the body; nil if the fields do not state it.
    let length: Int?
    /// The origin's `Set-Cookie` fields, which the headers do not contain.
    let setCookies: [String]
    /// Whether the response was answered without the network.
    let isHit: Bool
}

/// The heads of the responses that were answered without the network and translated last.
///
/// A file, and a stored response in memory, answers many requests with the same object. To translate its fields takes
/// longer than to find it.
final class TranslatedHeads: Sendable {
    /// When there are more, all are dropped.
    private static let limit = 256

    private struct Key: Hashable {
        let response: ObjectIdentifier
        let isNamed: Bool
    }

    /// The responses are kept, so that no other one gets the identifier of a key.
    private let heads = Mutex<[Key: (response: HTTPURLResponse, head: TranslatedHead)]>([:])

    /// The head of a response.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - isNamed: Whether the browser asked by the gateway's name of the origin.
    ///   - translate: Makes the translated head if none is remembered for the response.
    /// - Returns: The head.
    func head(of response: HTTPURLResponse, isNamed: Bool, _ translate: () -> TranslatedHead) -> TranslatedHead {
        let key = Key(response: ObjectIdentifier(response), isNamed: isNamed)
        if let known = heads.withLock({ $0[key]?.head }) { return known }
        let head = translate()
        guard head.isHit else { return head }
        heads.withLock { heads in
            if heads.count >= Self.limit { heads.removeAll(keepingCapacity: true) }
            heads[key] = (response, head)
        }
        return head
    }
}
#endif
