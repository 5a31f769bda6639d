import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import WaystationStorage

/// The catalogue and the packs as static files, which any other file server could serve as well.
///
/// `OfflineDirectory` handles ranges, `If-Range`, validators and the paths that are refused; files are sent piece by
/// piece.
struct ReleaseFiles: Sendable {
    /// The `Cache-Control` of the catalogue: caches ask for it each time.
    static let changing = "no-cache"
    /// The `Cache-Control` of packs and patches, which are never replaced.
    static let unchanging = "public, max-age=31536000, immutable"

    private let root: ReleaseRoot
    private let threads = NIOThreadPool.singleton

    init(_ root: ReleaseRoot) { self.root = root }

    func addRoutes(to router: some RouterMethods) {
        for method in [HTTPRequest.Method.get, .head] {
            router.on("/catalogue.json", method: method) { request, _ in
                // Clients ask for it often, and get a 304 while it is unchanged.
                try await answer(request, "catalogue.json", cacheControl: Self.changing)
            }
            router.on("/packs/**", method: method) { request, _ in
                // The path as the client sent it: the directory decodes the path itself, and refuses one that leads out
                // of it.
                guard request.uri.path.hasPrefix("/packs/") else { return Response(status: .notFound) }
                let path = String(request.uri.path.dropFirst())
                return try await answer(request, path, cacheControl: Self.unchanging)
            }
        }
    }

    private func answer(_ request: Request, _ path: String, cacheControl: String) async throws -> Response {
        let fileRequest = FileRequest(method: request.method, path: path, headerFields: request.headers)
        // Reading a large file for its first ETag takes a while, so this does not run on Swift's threads.
        switch try await threads.runIfActive({ try root.files().answer(fileRequest) }) {
        case .answer(let answer): return response(answer, path, cacheControl)
        case .notFound: throw Problem(.notFound, "notFound", "there is no such file")
        case .refused: throw Problem(.badRequest, "badPath", "the path is not valid")
        case .failed(let error):
            throw Problem(.internalServerError, "fileSystem", "the file cannot be read", cause: error)
        }
    }

    private func response(_ answer: FileAnswer, _ path: String, _ cacheControl: String) -> Response {
        var headers = answer.headerFields
        if [.ok, .partialContent, .notModified].contains(answer.status) { headers[.cacheControl] = cacheControl }
        // A patch is not text, even where the name's ending means that elsewhere.
        if headers[.contentType] != nil, path.hasSuffix(".patch") { headers[.contentType] = "application/octet-stream" }
        headers[.xContentTypeOptions] = "nosniff"
        var response = Response(status: answer.status, headers: headers, body: body(answer.body))
        // This field would have to state the file's length, not the answer's; it may be left out (RFC 9110 section
        // 8.6).
        if answer.status == .notModified { response.headers[.contentLength] = nil }
        return response
    }

    private func body(_ body: FileBody) -> ResponseBody {
        switch body {
        case .empty: return ResponseBody()
        case .data(let data): return ResponseBody(byteBuffer: ByteBuffer(bytes: data))
        case .slice(let slice):
            return ResponseBody(contentLength: slice.length) { [threads] writer in
                var position = 0
                while position < slice.length {
                    // An error closes the connection before the announced length, so no client takes the part for the
                    // whole.
                    let part = try await threads.runIfActive { [position] in
                        try slice.read(at: position, count: slice.chunkSize)
                    }
                    try await writer.write(ByteBuffer(bytes: part))
                    position += part.count
                }
                try await writer.finish(nil)
            }
        }
    }
}
