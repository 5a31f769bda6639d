import Foundation
import FoundationNetworking

/// A step that was prepared before a task's protocol was made.
///
/// It reaches the protocol by public means: as the cached response that a session passes from its cache to the
/// protocol.
///
/// `@unchecked Sendable` because the superclass is; the properties added here do not change.
final class PreparedStep: CachedURLResponse, @unchecked Sendable {
    let step: ServingStep
    let rule: Int

    init(_ step: ServingStep, rule: Int) {
        self.step = step
        self.rule = rule
        super.init(response: Self.noResponse, data: Data(), userInfo: nil, storagePolicy: .notAllowed)
    }

    /// Steps are never archived.
    required init?(coder: NSCoder) { nil }

    /// A cached response must have one; it is never read.
    private static let noResponse = URLResponse(
        url: URL(fileURLWithPath: "/"),
        mimeType: nil,
        expectedContentLength: 0,
        textEncodingName: nil
    )
}
