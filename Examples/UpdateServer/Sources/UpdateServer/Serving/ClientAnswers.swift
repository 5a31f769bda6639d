import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import WaystationPacks
import WaystationPublishing

/// Answers clients that speak one of the two older formats.
struct ClientAnswers: Sendable {
    private static let maximumRequest = 1 << 20

    let releases: ReleaseDirectory
    let publicURL: URL?

    func addRoutes(to router: some RouterMethods<ServerContext>) {
        router.post("/modules") { request, context in try await answerModules(request, context) }
        router.get("/package") { request, _ in try await answerPackage(request) }
    }

    private func answerModules(_ request: Request, _ context: ServerContext) async throws -> Response {
        try await context.expectBody(of: request)
        let body = try await request.body.collect(upTo: Self.maximumRequest)
        let asked: ModuleListRequest
        do {
            asked = try JSONDecoder().decode(ModuleListRequest.self, from: Data(body.readableBytesView))
        } catch {
            throw Problem(.badRequest, "badRequest", "the body is not in the format of a request for many modules")
        }
        return try Response(json: await releases.index().answer(asked, at: base(of: request)))
    }

    private func answerPackage(_ request: Request) async throws -> Response {
        let index = try await releases.index()
        let query = request.uri.queryParameters
        let asked = SinglePackRequest(
            try module(in: query.get("module", as: String.self), of: index),
            installed: try version("packageVersion", in: query.get("packageVersion", as: String.self)),
            // Apps may use any text as their version, so an invalid one is ignored.
            appVersion: query.get("appVer", as: String.self).flatMap { PackVersion($0) }
        )
        guard let answer = index.answer(asked, at: try base(of: request)) else {
            throw Problem(.notFound, "notFound", "nothing was published for \(asked.module)")
        }
        return try Response(json: answer)
    }

    /// The requested module.
    ///
    /// The format has no field for it, so it is in the query of the server's address, or the server has only one
    /// module.
    private func module(in text: String?, of index: ReleaseIndex) throws -> ModuleID {
        if let text {
            if let module = ModuleID(text) { return module }
        } else if index.modules.count == 1 {
            return index.modules[0].module
        }
        throw Problem(.badRequest, "badRequest", "name the module: /package?module=NAME")
    }

    private func version(_ name: String, in text: String?) throws -> PackVersion? {
        guard let text, !text.isEmpty else { return nil }
        if let version = PackVersion(text) { return version }
        throw Problem(.badRequest, "badRequest", "\(name) is not a valid version: use numbers with dots between them")
    }

    /// The URL of the release directory as this client knows it.
    private func base(of request: Request) throws -> URL {
        if let publicURL { return publicURL }
        guard let authority = request.head.authority, let url = URL(string: "http://\(authority)/"),
            url.host != nil, url.user == nil, url.query == nil, url.path == "/"
        else { throw Problem(.badRequest, "badRequest", "the request has no valid Host") }
        return url
    }
}
