#if Gateway
import Waystation
import WaystationCaching
import WaystationRecording

extension ExpectedAnswer {
    /// The answer in a sentence.
    var words: String {
        switch self {
        case .unclaimed: "No rule takes the request now."
        case .answered(.pack, let status): "An installed pack answers it with the status \(status)."
        case .answered(.files, let status): "The directory of the rule answers it with the status \(status)."
        case .answered(.cache, 504): "The request accepts only a stored response, and no stored one can be used: 504."
        case .answered(.cache, let status): "The cache answers it with the status \(status), without the network."
        case .answered(let source, let status): "The source \(source) answers it with the status \(status)."
        case .fetched(let reason, isConditional: true):
            "\(Self.words(for: reason)): the origin is asked whether the stored response is still valid."
        case .fetched(let reason, isConditional: false): "\(Self.words(for: reason)): the origin is asked for it."
        case .forwarded: "It is sent to the origin without the cache."
        case .handedBack: "Foundation's own loader sends it to the origin."
        case .openedElsewhere: "The link is passed to the app's handler of external links."
        case .failed(let error): "It fails: \(Redaction.standard.text(error.reason))"
        case .delayed: "It waits for a login or for the app's cookies first."
        }
    }

    private static func words(for reason: CacheStatus.ForwardReason) -> String {
        switch reason {
        case .bypass: "The rule does not use the cache"
        case .method: "Requests with this method are always sent to the origin"
        case .uriMiss: "Nothing is stored for the URL"
        case .varyMiss: "Only responses for other request fields are stored"
        case .miss: "No stored response can be used"
        case .request: "The request or the rule wants a new answer"
        case .stale: "The stored response is stale"
        case .partial: "Only a part of the response is stored"
        }
    }
}
#endif
