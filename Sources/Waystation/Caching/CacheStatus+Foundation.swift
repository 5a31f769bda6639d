import Foundation
import WaystationCaching

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension CacheStatus {
    /// The field's name as Foundation spells it.
    static let field = "Cache-Status"

    /// The library's own member of the field.
    init(_ outcome: Outcome, timeToLive: Duration? = nil, detail: String? = nil) {
        self.init("Waystation", outcome, timeToLive: timeToLive, detail: detail)
    }
}

extension ResponseHead {
    /// The same response with one more member in its `Cache-Status`.
    func adding(_ status: CacheStatus) -> ResponseHead {
        let earlier = value(forHTTPHeaderField: CacheStatus.field).map { $0.isEmpty ? "" : $0 + ", " } ?? ""
        return setting(CacheStatus.field, to: earlier + status.fieldValue)
    }
}
