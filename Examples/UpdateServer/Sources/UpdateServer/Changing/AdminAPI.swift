import Foundation
import HTTPTypes
import Hummingbird
import WaystationPacks
import WaystationPublishing

/// The API that lists the published releases, and changes them.
struct AdminAPI: Sendable {
    private let settings: ServerSettings

    init(_ settings: ServerSettings) { self.settings = settings }

    func addRoutes(to router: some RouterMethods<ServerContext>) {
        let (releases, keys) = (settings.releases, settings.keys)
        router.get("/api/modules") { _, _ in Response(json: try await releases.index().json()) }
        let module = router.group("/api/modules/:module").add(middleware: TokenMiddleware(token: settings.token))
        module.post("/publish") { request, context in
            try await publish(request, context, as: try Self.module(in: context))
        }
        module.post("/rollback") { request, context in
            let version = try Self.version(in: request)
            return Response(
                json: try await releases.rollBack(Self.module(in: context), to: version, signedBy: keys).json()
            )
        }
        module.post("/disable") { _, context in
            Response(json: try await releases.disable(Self.module(in: context), signedBy: keys).json())
        }
        module.post("/enable") { _, context in
            Response(json: try await releases.enable(Self.module(in: context), signedBy: keys).json())
        }
        module.post("/minimum") { request, context in
            let version = try Self.version(in: request)
            return Response(
                json: try await releases.setMinimumVersion(version, of: Self.module(in: context), signedBy: keys).json()
            )
        }
        module.post("/network") { request, context in
            let condition = Self.network(in: request) ?? .any
            return Response(
                json: try await releases.setNetwork(condition, of: Self.module(in: context), signedBy: keys).json()
            )
        }
        module.post("/prune") { request, context in
            let count = try Self.count("keep", in: request)
            let pruning = try await releases.prune(Self.module(in: context), keeping: count, signedBy: keys)
            return Response(json: try pruning.index.json())
        }
    }

    private func publish(
        _ request: Request,
        _ context: ServerContext,
        as module: ModuleID
    ) async throws -> Response {
        let percentage = try Self.number("rollout", in: request)
        let isForced = try Self.flag("force", in: request)
        let upload = try await UploadedPack.receive(request, context, limit: settings.maximumUpload)
        let publication: Publication
        do {
            try await Self.check(upload, for: module)
            publication = try await settings.releases.publish(
                zip: upload.file,
                rollout: percentage,
                network: Self.network(in: request),
                allowingFewerFiles: isForced,
                signedBy: settings.keys
            )
        } catch let error as PackError {
            throw Problem(error, in: upload)
        }
        var response = Response(json: try publication.index.json())
        if publication.isNew { response.status = .created }
        return response
    }

    private static func check(_ upload: UploadedPack, for module: ModuleID) async throws {
        let found = try await BlockingWork.run { try PackContents(upload.file).manifest.module }
        guard found == module else {
            throw Problem(
                .unprocessableContent,
                "otherModule",
                "the pack belongs to the module \(found), but was sent for \(module)"
            )
        }
    }

    private static func module(in context: some RequestContext) throws -> ModuleID {
        guard let text = context.parameters.get("module"), let module = ModuleID(text) else {
            throw Problem(.badRequest, "badRequest", "a module's name has 1 to 64 letters, digits, '.', '_' and '-'")
        }
        return module
    }

    private static func version(in request: Request) throws -> PackVersion? {
        guard let text = request.uri.queryParameters.get("version", as: String.self) else { return nil }
        guard let version = PackVersion(text) else {
            throw Problem(.badRequest, "badRequest", "version is not valid: use numbers with dots between them")
        }
        return version
    }

    private static func network(in request: Request) -> NetworkCondition? {
        request.uri.queryParameters.get("network", as: String.self).map { NetworkCondition($0) }
    }

    private static func count(_ name: String, in request: Request) throws -> Int {
        guard let text = request.uri.queryParameters.get(name, as: String.self), let count = Int(text), count >= 1
        else {
            throw Problem(.badRequest, "badRequest", "\(name) is missing or invalid: use a whole number of at least 1")
        }
        return count
    }

    private static func flag(_ name: String, in request: Request) throws -> Bool {
        guard let text = request.uri.queryParameters.get(name, as: String.self) else { return false }
        guard let flag = Bool(text) else { throw Problem(.badRequest, "badRequest", "\(name) takes true or false") }
        return flag
    }

    private static func number(_ name: String, in request: Request) throws -> Double? {
        guard let text = request.uri.queryParameters.get(name, as: String.self) else { return nil }
        guard let number = Double(text), (0...100).contains(number) else {
            throw Problem(.badRequest, "badRequest", "\(name) takes a number from 0 to 100")
        }
        return number
    }
}
