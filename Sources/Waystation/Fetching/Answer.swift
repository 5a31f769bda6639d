import Foundation
import FoundationNetworking

/// An answer that is available.
struct Answer: Sendable {
    enum Body: Sendable {
        case data(Data)
        case source(any BodySource)

        var length: Int {
            switch self {
            case .data(let data): data.count
            case .source(let source): source.length
            }
        }
    }

    var response: HTTPURLResponse
    var body: Body
    var source: LoadEvent.Source
    /// Whether the answer was made here, because no source has one.
    var isMadeHere = false
    /// The fetch that renews the response after the answer was delivered (stale-while-revalidate).
    var renews: FetchPlan?
}
