import Foundation
import HTTPTypes
import WaystationCaching
import WaystationFiles

/// A response that is not in the store: a pack's file, which arrived at the time of its pack's release, or a response of
/// a shared tier.
struct PackedVariant: Sendable {
    let head: StoredHead
    let body: Answer.Body
    let source: LoadEvent.Source

    init(shared head: StoredHead, _ body: Data) {
        self.head = head
        self.body = .data(body)
        source = .shared
    }

    init(_ file: FileAnswer, url: String, released: Date) {
        body = Answer.Body(file.body)
        source = .pack
        var fields = file.headerFields
        // The tag is the pack's own, and the origin does not know it: it would answer a conditional request with the
        // full body.
        fields[.eTag] = nil
        head = StoredHead(
            key: RequestKey(method: "GET", url: url),
            status: file.status.code,
            headerFields: fields,
            requestTime: released,
            responseTime: released,
            contentLength: file.length
        )
    }
}
