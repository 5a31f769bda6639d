import HTTPTypes
import Hummingbird
import NIOCore
import WaystationPacks
import WaystationPublishing
import WaystationStorage

/// The catalogue and the packs of a bucket, for clients that do not fetch from the bucket or a CDN before it.
///
/// The server keeps nothing of them, so any number of servers may stand before one bucket.
struct BucketFiles: Sendable {
    /// The most bytes of a file that are in memory for one client.
    private static let pieceSize = 1 << 20

    let bucket: S3Bucket

    func addRoutes(to router: some RouterMethods) {
        for method in [HTTPRequest.Method.get, .head] {
            router.on("/catalogue.json", method: method) { request, _ in
                try await answer(request, "catalogue.json", cacheControl: ReleaseFiles.changing)
            }
            router.on("/packs/**", method: method) { request, _ in
                try await answer(request, String(request.uri.path.dropFirst()), cacheControl: ReleaseFiles.unchanging)
            }
        }
    }

    private func answer(_ request: Request, _ path: String, cacheControl: String) async throws -> Response {
        let fileRequest = FileRequest(method: request.method, path: path, headerFields: request.headers)
        guard let answer = try await bucket.answer(fileRequest) else {
            throw Problem(.notFound, "notFound", "there is no such file")
        }
        var headers = answer.headerFields
        if [.ok, .partialContent, .notModified].contains(answer.status) { headers[.cacheControl] = cacheControl }
        headers[.xContentTypeOptions] = "nosniff"
        var response = Response(status: answer.status, headers: headers, body: Self.body(of: answer))
        if answer.status == .notModified { response.headers[.contentLength] = nil }
        return response
    }

    private static func body(of answer: BucketAnswer) -> ResponseBody {
        guard answer.length > 0 else { return ResponseBody() }
        return ResponseBody(contentLength: answer.length) { writer in
            var position = 0
            while position < answer.length {
                // An error closes the connection before the announced length, so no client takes the part for the
                // whole.
                let part = try await answer.read(at: position, count: pieceSize)
                try await writer.write(ByteBuffer(bytes: part))
                position += part.count
            }
            try await writer.finish(nil)
        }
    }
}
