import Foundation
import FoundationNetworking
import WaystationCaching

extension CacheStatus {
    /// The field's name as Foundation spells it.
    static let field = "Cache-Status"

    /// The library's own member of the field.
    init(_ outcome: Outcome, timeToLive: Duration? = nil, detail: String? = nil) {
        self.init("Waystation", outcome, timeToLive: timeToLive, detail: detail)
    }
}

extension HTTPURLResponse {
    /// The same response with one more member in its `Cache-Status`.
    func adding(_ status: CacheStatus) -> HTTPURLResponse {
        guard let url, var fields = allHeaderFields as? [String: String] else { return self }
        let earlier = value(forHTTPHeaderField: CacheStatus.field).map { $0.isEmpty ? "" : $0 + ", " } ?? ""
        fields[CacheStatus.field] = earlier + status.fieldValue
        return HTTPURLResponse(url: url, statusCode: statusCode, httpVersion: "HTTP/1.1", headerFields: fields) ?? self
    }
}
