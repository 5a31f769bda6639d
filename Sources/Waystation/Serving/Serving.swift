import Foundation
import WaystationFields
import WaystationTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The order in which the sources of a rule are asked about a request.
struct Serving: Sendable {
    let sources: AnswerSources
    let request: URLRequest
    let canonical: CanonicalRequest
    /// The login under which the request got its cookies.
    var ticket: LoginTicket?

    /// The verdict of the sources on a route.
    ///
    /// It needs no I/O; reading from the disk is returned as a look-up.
    func verdict(_ route: CompiledRules.Step) -> Verdict {
        switch route {
        case .block:
            return .fail(refusal(.blocked, "a rule blocks \(canonical.url.string.shownURL)"))
        case .nowhere:
            return .fail(
                refusal(
                    .notFound,
                    "no source of its rule has \(canonical.url.string.shownURL), and the rule names no other"
                )
            )
        case .network:
            return network
        case .carried(let transport):
            return .carry(transport, spoolingInto: request.httpBodyStream == nil ? nil : sources.bodySpool)
        case .files(let mounted, let otherwise):
            return files(mounted) { verdict(otherwise) }
        case .pack(let packs, nil, let otherwise):
            return pack(packs) { verdict(otherwise) }
        case .pack(let packs, let overlay?, let otherwise):
            return self.overlay(overlay, packs) { verdict(otherwise) }
        case .cache(let strategy):
            return cache(strategy)
        case .login(_, let then):
            return verdict(then)
        }
    }

    /// The verdict when the network is to answer, and there is nothing to store.
    ///
    /// If nothing has to be changed on the way either, Foundation's own loader runs the task, because it is the most
    /// faithful and the quickest way.
    ///
    /// A redirect that Foundation follows takes credentials to another origin and loses the body of a 307 or 308. So a
    /// request with credentials or a body is sent through the transport, which handles both correctly.
    var network: Verdict {
        let carriesBody = !(request.httpBody?.isEmpty ?? true)
        let carriesCredentials = CredentialFields.names.contains { request.value(forHTTPHeaderField: $0) != nil }
        // An unsafe request invalidates stored responses, so it must pass the cache.
        let changesStored = sources.fetches != nil && !canonical.isSafe
        if request.httpBodyStream != nil {
            return sources.bodySpool.map(Verdict.spool) ?? (sources.hasOwnTransport ? .send : .handBack)
        }
        guard carriesBody || carriesCredentials || changesStored || sources.forwardsAll || hasSchemeInCapitals else {
            return .handBack
        }
        return .send
    }

    /// Whether the URL's scheme has capitals: Foundation's loader does not recognise `HTTP://…`; a forwarded request
    /// has the scheme in lower case.
    private var hasSchemeInCapitals: Bool {
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return request.url?.absoluteString.utf8.prefix { $0 != UInt8(ascii: ":") }.contains(where: capitals.contains)
            ?? false
    }

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
