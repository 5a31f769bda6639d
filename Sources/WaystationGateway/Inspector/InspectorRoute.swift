#if Gateway
import WaystationFields

/// One of the things that the inspector answers.
enum InspectorRoute: Equatable, Sendable {
    case file(String)
    /// The loads as they end, as server-sent events.
    case loads
    case load(Int)
    /// The picture that is the body of a load's response.
    case image(Int)
    case events
    case clear
    case archive
    case rules
    case decision(url: String, method: String)
    case cache(search: String)
    case entry(Int64)
    case purge(Int64)
    case packs
    case packFiles(module: String, version: String)
    /// Rolls back the version that the page shows as the active one.
    case rollBack(module: String, version: String)
    case cookies

    /// Finds the route of a request.
    ///
    /// - Throws: A refusal if there is no such resource, or not for the method.
    init(_ request: InspectorGate.Request) throws(Refusal) {
        let get = { (name: String) in request.query[name] ?? "" }
        let route: InspectorRoute? =
            switch (request.isPost, request.path) {
            case (false, "/"): .file("index.html")
            case (false, "/api/loads"): .loads
            case (false, "/api/load"): Int(get("id")).map { .load($0) }
            case (false, "/api/image"): Int(get("id")).map { .image($0) }
            case (true, "/api/clear"): .clear
            case (false, "/api/events"): .events
            case (false, "/api/loads.har"): .archive
            case (false, "/api/rules"): .rules
            case (false, "/api/decision"): .decision(url: get("url"), method: get("method"))
            case (false, "/api/cache"): .cache(search: get("search"))
            case (false, "/api/entry"): Int64(get("id")).map { .entry($0) }
            case (true, "/api/purge"): Int64(get("id")).map { .purge($0) }
            case (false, "/api/packs"): .packs
            case (false, "/api/pack"): .packFiles(module: get("module"), version: get("version"))
            case (true, "/api/rollback"): .rollBack(module: get("module"), version: get("version"))
            case (false, "/api/cookies"): .cookies
            case (false, let path) where InspectorFiles.contains(String(path.dropFirst())):
                .file(String(path.dropFirst()))
            default: nil
            }
        guard let route else {
            let method = request.isPost ? "POST" : "GET"
            throw Refusal(status: 404, message: "The inspector has no answer to \(method) \(request.path.shown()).")
        }
        self = route
    }
}
#endif
