import Foundation
import FoundationNetworking

/// A step that was prepared before a task's protocol was made, handed to it by public means: inside the cached
/// response that a session passes from its cache to the protocol.
final class PreparedStep: Sendable {
    private static let key = "waystation.step"

    let step: ServingStep
    let rule: Int

    init(_ step: ServingStep, rule: Int) {
        self.step = step
        self.rule = rule
    }

    /// The vehicle; what it holds besides is never looked at.
    var carrier: CachedURLResponse {
        CachedURLResponse(
            response: Self.noResponse,
            data: Data(),
            userInfo: [Self.key: self],
            storagePolicy: .notAllowed
        )
    }

    private static let noResponse = URLResponse(
        url: URL(fileURLWithPath: "/"),
        mimeType: nil,
        expectedContentLength: 0,
        textEncodingName: nil
    )

    /// The step that a protocol was given, if any.
    static func taken(from carrier: CachedURLResponse?) -> (step: ServingStep, rule: Int)? {
        (carrier?.userInfo?[key] as? PreparedStep).map { ($0.step, $0.rule) }
    }
}
