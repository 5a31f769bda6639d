import Foundation
import FoundationNetworking
import Synchronization

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
        Self.count.add(1, ordering: .relaxed)
    }

    deinit { Self.count.subtract(1, ordering: .relaxed) }

    /// How many there are: about as many as intercepted loads are under way.
    static var living: Int { count.load(ordering: .relaxed) }

    private static let count = Atomic(0)

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
