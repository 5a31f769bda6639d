import Foundation
import WaystationCaching

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension ExpectedAnswer {
    /// The answer in a sentence; the message of an error is shown as it is.
    package var words: String {
        switch self {
        case .unclaimed: "No rule takes the request now."
        case .answered(.pack, let status): "An installed pack answers the request with the status \(status)."
        case .answered(.files, let status): "The directory of the rule answers the request with the status \(status)."
        case .answered(.cache, 504): "The request accepts only a stored response, and no stored one can be used: 504."
        case .answered(.cache, let status):
            "The cache answers the request with the status \(status), without the network."
        case .answered(let source, let status): "The source \(source) answers the request with the status \(status)."
        case .fetched(let reason, isConditional: true):
            "\(reason.inWords): the origin is asked whether the stored response is still valid."
        case .fetched(let reason, isConditional: false): "\(reason.inWords): the request goes to the origin."
        case .forwarded: "The request is sent to the origin without the cache."
        case .handedBack: "Foundation's own loader sends the request to the origin."
        case .openedElsewhere: "The link is passed to the app's handler of external links."
        case .failed(let error): "It fails: \(error.reason)"
        case .delayed: "The request first waits for a login or for the app's cookies."
        }
    }
}
