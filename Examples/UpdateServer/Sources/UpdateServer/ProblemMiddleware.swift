import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import WaystationPacks
import WaystationPublishing

/// Turns errors into answers: `{"error":{"code":…,"message":…}}`.
struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
    /// The path of the release directory, which answers do not name, since it says how the server is set up.
    ///
    /// Nil for a bucket.
    private let path: String?

    init(_ releases: ReleaseDirectory) {
        let path = releases.directory.standardizedFileURL.path(percentEncoded: false)
        self.path = releases.bucket == nil ? (path.hasSuffix("/") ? String(path.dropLast()) : path) : nil
    }

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let response: Response
        do {
            return try await next(request, context)
        } catch let error as PackError {
            response = try refuse(Problem(error), context)
        } catch let problem as Problem {
            response = try refuse(problem, context)
        } catch let error as HTTPError {
            let problem = Problem(error.status, error.status.reasonPhrase, error.body ?? error.status.reasonPhrase)
            response = try problem.response(error.headers)
        }
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func refuse(_ problem: Problem, _ context: Context) throws -> Response {
        if let cause = problem.cause { context.logger.notice("refused", metadata: ["error": "\(cause)"]) }
        return try problem.hiding(path).response()
    }
}

/// The reason for refusing a request, as text for the client.
struct Problem: Error {
    let status: HTTPResponse.Status
    let code: String
    private(set) var message: String
    let headers: HTTPFields
    /// The error behind it, for the log.
    let cause: (any Error)?

    init(
        _ status: HTTPResponse.Status,
        _ code: String,
        _ message: String,
        headers: HTTPFields = [:],
        cause: (any Error)? = nil
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers
        self.cause = cause
    }

    /// The problem of an error.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - upload: The pack that the client sent, if there is one. The path of its file is of no use to the client, and
    ///     says how the server is set up.
    init(_ error: PackError, in upload: UploadedPack? = nil) {
        status = error.code.status
        code = error.code.description
        let path = upload?.file.path(percentEncoded: false)
        message = path.map { error.message.replacing($0, with: "the upload") } ?? error.message
        headers = [:]
        cause = error
    }

    /// The same problem without the path of the release directory.
    func hiding(_ path: String?) -> Problem {
        guard let path, !path.isEmpty else { return self }
        var problem = self
        problem.message = message.replacing(path, with: "the release directory")
        return problem
    }

    func response(_ additional: HTTPFields = [:]) throws -> Response {
        var response = try Response(json: ["error": ["code": code, "message": message]], status: status)
        for field in headers + additional { response.headers.append(field) }
        return response
    }
}

extension PackError.Code {
    /// The status of an answer that refuses a request with this error.
    var status: HTTPResponse.Status {
        switch self {
        case .notInstalled: .notFound
        case .invalidArgument: .conflict
        case .noSpace: .insufficientStorage
        case .fileSystem, .notDurable: .internalServerError
        // The store of a bucket failed, not the request.
        case .network, .refused: .badGateway
        case .busy: .serviceUnavailable
        default: .unprocessableContent
        }
    }
}

extension Response {
    /// A JSON answer that caches must not store.
    init(json value: some Encodable, status: HTTPResponse.Status = .ok) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        self.init(json: try encoder.encode(value), status: status)
    }

    /// An answer whose bytes are already JSON.
    init(json bytes: Data, status: HTTPResponse.Status = .ok) {
        self.init(
            status: status,
            headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
        )
    }
}
