import WaystationFoundation
import WaystationHTTP

/// The network, without the cache.
struct NetworkSource: AnswerSource {
    let name = "network"

    func answer(to request: SourceRequest) -> SourceAnswer { SourceAnswer(request.network) }
}

/// A transport that answers in place of the network.
struct TransportSource: AnswerSource {
    let transport: any Transport
    let name: String

    func answer(to request: SourceRequest) -> SourceAnswer {
        let spool = request.request.httpBodyStream == nil ? nil : request.environment.bodySpool
        return SourceAnswer(.carry(transport, spoolingInto: spool))
    }
}

/// Fails each request, because a rule blocks it.
struct BlockingSource: AnswerSource {
    let name = "block"

    func answer(to request: SourceRequest) -> SourceAnswer {
        SourceAnswer(.fail(request.refusal(.blocked, "a rule blocks \(request.canonical.url.string.shownURL)")))
    }
}

extension URLError {
    /// Whether a rule blocked the request.
    var isBlocked: Bool { (userInfo[NSUnderlyingErrorKey] as? WaystationError)?.code == .blocked }
}

extension SourceRequest {
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
        let changesStored = environment.fetches != nil && !canonical.isSafe
        if request.httpBodyStream != nil {
            return environment.bodySpool.map(Verdict.spool) ?? (environment.hasOwnTransport ? .send : .handBack)
        }
        guard carriesBody || carriesCredentials || changesStored || environment.forwardsAll || hasSchemeInCapitals
        else { return .handBack }
        return .send
    }

    /// Whether the URL's scheme has capitals: Foundation's loader does not recognise `HTTP://…`; a forwarded request
    /// has the scheme in lower case.
    private var hasSchemeInCapitals: Bool {
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return request.url?.absoluteString.utf8.prefix { $0 != UInt8(ascii: ":") }.contains(where: capitals.contains)
            ?? false
    }
}
