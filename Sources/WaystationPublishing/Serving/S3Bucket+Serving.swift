public import Foundation
public import HTTPTypes
import WaystationHTTP
public import WaystationPacks
public import WaystationStorage

/// The answer of a server to a client that requests a published file, with the file in a bucket.
///
/// The body is read piece by piece, so that a slow client takes no memory.
public struct BucketAnswer: Sendable {
    /// 200, 206, 304, 405, 412 or 416.
    public let status: HTTPResponse.Status
    /// The header fields; for HEAD, `Content-Length` is that of the answer to GET.
    public let headerFields: HTTPFields
    /// The number of bytes in the body.
    public var length: Int { part.count }

    fileprivate var part = 0..<0
    fileprivate var read: @Sendable (Range<Int>) async throws(PackError) -> Data = { _ throws(PackError) in Data() }

    fileprivate init(_ status: HTTPResponse.Status, _ headerFields: HTTPFields) {
        self.status = status
        self.headerFields = headerFields
    }

    /// Reads bytes of the body.
    ///
    /// - Parameters:
    ///   - position: The offset in the body.
    ///   - count: The most bytes to read.
    /// - Returns: At least one byte, unless the position is at the end of the body.
    /// - Throws: ``WaystationPacks/PackError`` when the store fails, or the file was replaced in the meantime.
    public func read(at position: Int, count: Int) async throws(PackError) -> Data {
        // The bounds are taken first, so that no sum overflows.
        let start = part.lowerBound + min(max(0, position), part.count)
        let end = start + min(max(0, count), part.upperBound - start)
        guard start < end else { return Data() }
        return try await read(start..<end)
    }
}

extension S3Bucket {
    /// Answers a client's request for the catalogue, a pack or a patch, as a server of static files would.
    ///
    /// - Parameter request: The request, with a path such as `packs/shop/1.5/…/shop-1.5.zip` or `catalogue.json`.
    /// - Returns: The answer; nil if there is no such file, or clients may not read it.
    /// - Throws: ``WaystationPacks/PackError`` when the store fails.
    public func answer(_ request: FileRequest) async throws(PackError) -> BucketAnswer? {
        guard request.method == .get || request.method == .head else {
            return BucketAnswer(.methodNotAllowed, [.allow: "GET, HEAD", .contentLength: "0"])
        }
        let path = request.path
        guard path == BucketLayout.catalogue || path.hasPrefix(BucketLayout.packs),
            path.wholeMatch(of: /[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*/) != nil,
            !path.split(separator: "/").contains(where: { $0 == "." || $0 == ".." }),
            let object = try await head(path)
        else { return nil }
        let precondition = Precondition(
            request.headerFields,
            entityTag: object.entityTag,
            lastModified: object.lastModified,
            now: HTTPDate(nearestTo: now().timeIntervalSince1970)
        )
        switch precondition {
        case .failed: return BucketAnswer(.preconditionFailed, [.contentLength: "0"])
        case .notModified: return BucketAnswer(.notModified, [.eTag: object.entityTag.fieldValue])
        case .proceed(let honoursRange):
            guard honoursRange, request.method == .get, let text = request.headerFields[.range] else {
                return answer(path, object, .ok, 0..<object.length, isHead: request.method == .head)
            }
            switch ByteRange(text, length: object.length) {
            case .ignored: return answer(path, object, .ok, 0..<object.length, isHead: false)
            case .part(let part): return answer(path, object, .partialContent, part, isHead: false)
            case .unsatisfiable:
                let fields: HTTPFields = [.contentRange: "bytes */\(object.length)", .contentLength: "0"]
                return BucketAnswer(.rangeNotSatisfiable, fields)
            }
        }
    }

    private func answer(
        _ path: String,
        _ object: ServedObject,
        _ status: HTTPResponse.Status,
        _ part: Range<Int>,
        isHead: Bool
    ) -> BucketAnswer {
        var fields: HTTPFields = [
            .contentType: object.type, .contentLength: String(part.count), .eTag: object.entityTag.fieldValue,
            .acceptRanges: "bytes",
        ]
        fields[.lastModified] = object.lastModified?.fieldValue
        if status == .partialContent {
            fields[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(object.length)"
        }
        var answer = BucketAnswer(status, fields)
        guard !isHead else { return answer }
        answer.part = part
        answer.read = { range throws(PackError) in try await piece(path, range, of: object) }
        return answer
    }

    /// The metadata of an object that is served.
    private struct ServedObject: Sendable {
        let entityTag: EntityTag
        let length: Int
        let type: String
        let lastModified: HTTPDate?
    }

    private func head(_ path: String) async throws(PackError) -> ServedObject? {
        let reply = try await send(S3Request(.head, location.key(path), limit: 0))
        if reply.isMissingObject { return nil }
        guard reply.status == 200, let length = reply.fields[.contentLength].flatMap({ Int($0) }), length >= 0,
            let entityTag = reply.fields[.eTag].flatMap({ EntityTag($0) })
        else { throw refusal(reply, path) }
        let present = HTTPDate(nearestTo: now().timeIntervalSince1970)
        return ServedObject(
            entityTag: entityTag,
            length: length,
            type: reply.fields[.contentType] ?? "application/octet-stream",
            lastModified: reply.fields[.lastModified].flatMap { HTTPDate($0, now: present) }
        )
    }

    private func piece(
        _ path: String,
        _ range: Range<Int>,
        of object: ServedObject
    ) async throws(PackError) -> Data {
        var request = S3Request(.get, location.key(path), limit: range.count)
        request.fields[.range] = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
        // Another object in its place would make a body of two.
        request.fields[.ifMatch] = object.entityTag.fieldValue
        let reply = try await send(request)
        guard reply.status == 206, reply.body.count == range.count else { throw refusal(reply, path) }
        return reply.body
    }
}
