import Foundation
import FoundationNetworking

/// A step that was prepared before a task's protocol was made, handed to it by public means: as the cached response
/// that a session passes from its cache to the protocol.
///
/// `@unchecked Sendable` because the superclass is; what is added here does not change.
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

    /// What a cached response must have; it is never looked at.
    private static let noResponse = URLResponse(
        url: URL(fileURLWithPath: "/"),
        mimeType: nil,
        expectedContentLength: 0,
        textEncodingName: nil
    )
}
