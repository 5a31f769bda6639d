import Foundation
import FoundationNetworking

/// The order in which a request meets the sources of its rule.
struct Serving: Sendable {
    let engine: Engine
    let request: URLRequest
    let canonical: CanonicalRequest
    /// Whether Foundation may add cookies that the request does not show.
    var mayHideCookies = false

    /// Whether it does, as far as can be known.
    var hidesCookies: Bool { mayHideCookies && request.value(forHTTPHeaderField: "Cookie") == nil }

    /// What comes first.
    ///
    /// Costs no I/O; what needs some comes back as a look-up.
    func step(_ route: CompiledRules.Step) -> ServingStep {
        switch route {
        case .block:
            return .fail(refusal(.blocked, "a rule blocks \(canonical.url)"))
        case .nowhere:
            return .fail(refusal(.notFound, "no source of its rule has \(canonical.url), and the rule ends there"))
        case .network:
            return networkStep
        case .files(let mounted, let otherwise):
            return fileStep(mounted) { step(otherwise) }
        case .pack(let packs, nil, let otherwise):
            return packStep(packs) { step(otherwise) }
        case .pack(let packs, let overlay?, let otherwise):
            return overlayStep(overlay, packs) { step(otherwise) }
        case .cache(let strategy):
            return cacheStep(strategy)
        case .login(_, let then):
            return step(then)
        }
    }

    /// The network with nothing to store.
    ///
    /// Where nothing is to be changed on the way either, Foundation's own loader runs the task: it is the most faithful
    /// and the quickest.
    ///
    /// A redirect of Foundation's takes credentials along to another origin and leaves the body of a 307 or
    /// 308 behind; so what carries either goes through the transport, which does neither.
    var networkStep: ServingStep {
        let carriesBody = !(request.httpBody?.isEmpty ?? true)
        let carriesCredentials = CredentialFields.names.contains { request.value(forHTTPHeaderField: $0) != nil }
        // What is stored must hear of what changes it.
        let changesStored = engine.cache != nil && !Self.safeMethods.contains(canonical.method)
        // The app's own transport gets every load; Foundation's loader would pass it by.
        let isOwnTransport = engine.configuration.hasOwnTransport
        if request.httpBodyStream != nil {
            return engine.configuration.bodySpool.map(ServingStep.spool)
                ?? (isOwnTransport ? .forward(Forwarding()) : .handBack)
        }
        // Foundation's loader follows redirects without asking whether their target belongs to another app.
        let mayLeave = engine.configuration.externalLinks != nil
        // And it would choose the cookies.
        let choosesCookies = engine.cookies != nil
        // Nor would it ask the rules about a redirect's target, of which another rule may take care.
        let mayChangeRoute = !engine.rules.areNetworkAlone
        guard
            carriesBody || carriesCredentials || changesStored || mayLeave || choosesCookies || isOwnTransport
                || hasSchemeInCapitals || mayChangeRoute
        else { return .handBack }
        return .forward(Forwarding())
    }

    /// Foundation's loader takes `HTTP://…` for a scheme that it does not know; a forwarded request has it in lower case.
    private var hasSchemeInCapitals: Bool {
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return request.url?.absoluteString.utf8.prefix { $0 != UInt8(ascii: ":") }.contains(where: capitals.contains)
            ?? false
    }

    static let safeMethods: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE"]

    func refusal(_ code: WaystationError.Code, _ message: String) -> URLError {
        URLError(
            .resourceUnavailable,
            failing: request.url,
            message,
            underlying: WaystationError(code, message)
        )
    }
}

extension URLError {
    /// Whether a rule blocked the request.
    var isBlocked: Bool { (userInfo[NSUnderlyingErrorKey] as? WaystationError)?.code == .blocked }
}
