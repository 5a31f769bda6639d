import HTTPTypes
import Hummingbird

/// Records each request with its answer, before the answer is sent.
struct VisitMiddleware<Context: RequestContext>: RouterMiddleware {
    let shop: Shop

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var request = request
        let body = String(buffer: try await request.collectBody(upTo: 1 << 20))
        do {
            let response = try await next(request, context)
            note(request, body, response.status)
            return response
        } catch let error as any HTTPResponseError {
            note(request, body, error.status)
            throw error
        }
    }

    private func note(_ request: Request, _ body: String, _ status: HTTPResponse.Status) {
        let pairs = request.headers[values: .cookie].flatMap { $0.split(separator: ";") }.map { pair in
            let parts = pair.trimmingPrefix(" ").split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
        }
        shop.note(
            Visit(
                method: request.method.rawValue,
                target: request.uri.string,
                cookies: Dictionary(pairs) { first, _ in first },
                body: body,
                status: status.code
            )
        )
    }
}
