import Foundation
import HTTPTypes
import WaystationCaching
import WaystationFiles

/// A pack's file as a stored response, which arrived at the time of its pack's release.
struct PackedVariant: Sendable {
    let head: StoredHead
    let body: Answer.Body

    init(_ file: FileAnswer, url: String, released: Date) {
        body = Answer.Body(file.body)
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
