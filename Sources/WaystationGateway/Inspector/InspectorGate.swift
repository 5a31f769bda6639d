#if Gateway
import Foundation
import NIOHTTP1
import Waystation
import WaystationHTTP
import WaystationStorage

/// Decides which requests the inspector answers.
///
/// Any program and any page can send requests to a port of this machine. The inspector answers only those that carry
/// the secret, and nothing that a page of another origin asks for: a browser adds the cookie with the secret to requests
/// of other pages of the same site, so the cookie alone proves too little.
struct InspectorGate: Sendable {
    /// A request that may be answered.
    struct Request: Equatable, Sendable {
        let isPost: Bool
        let path: String
        var query: [String: String] = [:]
    }

    /// The decision about a request that is not refused.
    enum Admission: Equatable, Sendable {
        /// The request has the secret in its URL: the browser gets the cookie and is sent to the page.
        case enter
        case admitted(Request)
    }

    /// The host and port under which browsers reach the inspector.
    let authority: String
    let secret: InspectorSecret
    /// The cookie has the port in its name, because browsers send cookies to all ports of a host.
    let cookieName: String

    init(port: Int, _ secret: InspectorSecret) {
        authority = LocalNames.inspector + (port == 80 ? "" : ":\(port)")
        cookieName = "waystation-inspector-\(port)"
        self.secret = secret
    }

    /// The URL with the secret.
    var url: URL? { URL(string: "http://\(authority)/?key=\(secret.text)") }

    /// The value of the `Set-Cookie` field.
    ///
    /// A link of another site may lead to the page, which `SameSite=Strict` would leave without the cookie.
    var cookie: String { "\(cookieName)=\(secret.text); Path=/; HttpOnly; SameSite=Lax" }

    /// Whether a request names the inspector as its host.
    func isAddressed(by head: HTTPRequestHead) -> Bool {
        let hosts = head.headers["Host"]
        return hosts.count == 1 && hosts[0].equalsIgnoringCase(authority) && head.uri.hasPrefix("/")
    }

    /// Checks a request to the inspector.
    ///
    /// - Throws: A refusal that names the missing proof.
    func admit(_ head: HTTPRequestHead) throws(Refusal) -> Admission {
        try head.checkSingleFields()
        let request = try parse(head)
        try checkPage(head, request)
        if !request.isPost, request.path == "/", let key = request.query["key"] {
            guard secret.equals(key) else { throw .noSecret }
            return .enter
        }
        let cookies = head.headers["Cookie"].flatMap { CookiePairs($0).pairs }
        let start = cookieName + "="
        let given = cookies.filter { $0.hasPrefix(start) }.map { $0.dropFirst(start.count) }
        guard given.contains(where: secret.equals) else { throw .noSecret }
        return .admitted(request)
    }

    private func parse(_ head: HTTPRequestHead) throws(Refusal) -> Request {
        guard head.method == .GET || head.method == .POST else {
            throw Refusal(status: 405, message: "The inspector takes GET and POST, not \(head.method.rawValue).")
        }
        let length = head.headers.first(name: "Content-Length")
        guard !head.headers.contains(name: "Transfer-Encoding"), length == nil || length == "0" else {
            throw .badRequest("The inspector takes no body: give everything in the query of the URL.")
        }
        guard head.uri.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
            let parts = URLComponents(string: "http://\(LocalNames.inspector)\(head.uri)")
        else { throw .badRequest("The request target is not a valid URL path (RFC 3986 §3.3).") }
        let items = (parts.queryItems ?? []).map { ($0.name, $0.value ?? "") }
        return Request(
            isPost: head.method == .POST,
            path: parts.path,
            query: Dictionary(items) { first, _ in first }
        )
    }

    /// Refuses what a page of another origin asks for, except for a link to the inspector's page.
    private func checkPage(_ head: HTTPRequestHead, _ request: Request) throws(Refusal) {
        let origin = head.headers.first(name: "Origin")
        let isOwn = origin == "http://\(authority)"
        if let origin, !isOwn { throw .foreignPage(origin) }
        // The browser says so itself; a page cannot set these fields (Fetch Metadata §2).
        let site = head.headers.first(name: "Sec-Fetch-Site")
        let isLink =
            head.headers.first(name: "Sec-Fetch-Mode") == "navigate"
            && head.headers.first(name: "Sec-Fetch-Dest") == "document" && !request.isPost && request.path == "/"
        guard site == nil || site == "same-origin" || (site == "none" && !request.isPost) || isLink else {
            throw .foreignPage("a page of another origin")
        }
        guard !request.isPost || isOwn || site == "same-origin" else {
            throw Refusal(
                status: 403,
                message: "A POST to the inspector needs the field Origin: http://\(authority), which its page sends."
            )
        }
    }
}

extension Refusal {
    /// The refusal of a request without the secret.
    static let noSecret = Refusal(
        status: 403,
        message: """
            The inspector opens only by the URL with its secret. Open the URL that `waystation gateway --inspect` prints, or \
            that Gateway.inspectorURL has in the app, once in this browser. Each start of the gateway has a new secret.
            """
    )

    fileprivate static func foreignPage(_ page: String) -> Refusal {
        Refusal(
            status: 403,
            message: "The request was sent by \(page.shown()). Only the inspector's own page may use the inspector."
        )
    }
}

/// The secret of one run, without which the inspector answers nothing.
struct InspectorSecret: Sendable {
    /// 256 random bits as hexadecimal digits.
    let text: String

    /// Makes a new secret.
    init() { text = RandomName.make() + RandomName.make() }

    /// Compares a text with the secret.
    ///
    /// The time that the comparison takes does not depend on the number of bytes that agree.
    func equals(_ other: some StringProtocol) -> Bool {
        let (own, given) = (Array(text.utf8), Array(other.utf8))
        guard own.count == given.count else { return false }
        return zip(own, given).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

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
