import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes

/// The context of a request, with the connection over which it came.
struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    private let channel: any Channel

    init(source: Source) {
        coreContext = .init(source: source)
        channel = source.channel
    }

    /// Tells a client that waits with the body of its request to send it (RFC 9110 section 10.1.1).
    ///
    /// A request that is refused before its body is read gets its answer instead.
    func expectBody(of request: Request) async throws {
        guard request.headers[.expect]?.lowercased() == "100-continue" else { return }
        try await channel.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue)))
    }
}

/// Refuses a request with two `Host` fields, of which a proxy may have used the other one (RFC 9112 section 3.2).
struct OneHost<Context: RequestContext>: RouterMiddleware {
    private static var host: HTTPField.Name? { HTTPField.Name("Host") }

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        // The first field became the authority of the request.
        if let host = Self.host, request.headers.contains(host) {
            throw Problem(.badRequest, "badRequest", "the request has more than one Host field")
        }
        return try await next(request, context)
    }
}

/// Answers a method that a path does not take with 405 and the methods that it takes (RFC 9110 section 15.5.6).
///
/// Add it after all routes: then only requests that no route takes reach it.
struct WrongMethod<Context: RequestContext>: RouterMiddleware {
    private let routes: [(path: [Substring], method: HTTPRequest.Method)]

    init(_ routes: [Router<Context>.RouteDescription]) {
        self.routes = routes.map { ("\($0.path)".split(separator: "/"), $0.method) }
    }

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var methods = Set(routes.filter { Self.matches(request.uri.path, $0.path) }.map(\.method))
        guard !methods.isEmpty else { return try await next(request, context) }
        if methods.contains(.get) { methods.insert(.head) }
        let allowed = methods.map(\.rawValue).sorted().joined(separator: ", ")
        throw Problem(
            .methodNotAllowed,
            "methodNotAllowed",
            "this path takes \(allowed)",
            headers: [.allow: allowed]
        )
    }

    /// Whether a path is one of a route, whose names in braces stand for any segment and `**` for any rest.
    private static func matches(_ path: String, _ route: [Substring]) -> Bool {
        let segments = path.split(separator: "/")
        if route.last == "**" {
            return segments.count >= route.count && zip(segments, route.dropLast()).allSatisfy { fits($0, $1) }
        }
        return segments.count == route.count && zip(segments, route).allSatisfy { fits($0, $1) }
    }

    private static func fits(_ segment: Substring, _ part: Substring) -> Bool {
        part == segment || part.first == "{" || part.first == ":"
    }
}
