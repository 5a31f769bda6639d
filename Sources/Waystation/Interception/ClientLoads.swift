package import Foundation
package import FoundationNetworking

/// The loads of an interceptor for clients that are no tasks of a `URLSession`, such as the connections of a gateway.
///
/// They pass the same stations as a task, and share its fetches, its cache and its cookies.
package final class ClientLoads: Sendable {
    /// The way on which a load has begun.
    package enum Begun: Sendable {
        /// The load has ended, and its event was emitted: this is the whole response.
        case answered(HTTPURLResponse, body: Data)
        /// The client gets the response from the journey.
        case journey(Journey)
    }

    private let interceptor: Interceptor
    private let network: Network
    private let stations: Stations

    /// Makes the loads of an interceptor.
    ///
    /// - Parameters:
    ///   - interceptor: The interceptor, which is kept.
    ///   - configuration: The configuration of the loads' requests, which is copied.
    package init(_ interceptor: Interceptor, _ configuration: URLSessionConfiguration) {
        self.interceptor = interceptor
        network = interceptor.makeNetwork(configuration)
        stations = interceptor.makeStations(network)
    }

    /// Takes over the cookies that a page has set by itself.
    ///
    /// - Parameters:
    ///   - pairs: The pairs of the `Cookie` field of a page's request that the page's browser was not given.
    ///   - url: The URL of the request.
    ///   - client: The name of the program that showed the page.
    package func take(pagePairs pairs: [String], at url: URL, from client: String) {
        interceptor.cookies?.take(pagePairs: pairs, at: url, from: client, login: interceptor.configuration.login?.id)
    }

    /// Whether a rule, or the app's handler of external links, takes a request.
    package func claims(_ request: URLRequest) -> Bool {
        stations.matcher.match(request) != nil || stations.isExternalLink(request)
    }

    /// Begins a load.
    ///
    /// Call it on the client's queue.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - client: The recipient of the response, unless the load has ended with the call.
    ///   - sendsUnclaimed: Whether a request that no rule takes is sent to the network.
    /// - Returns: The way on which the load has begun; nil if no rule takes the request and it is not sent either.
    package func begin(
        _ request: URLRequest,
        for client: any JourneyClient,
        sendsUnclaimed: Bool
    ) -> Begun? {
        guard let visit = firstVisit(for: request, sendsUnclaimed: sendsUnclaimed) else { return nil }
        let context = LoadContext(
            interceptor.environment,
            stations,
            network,
            visit.hop.request,
            rule: visit.hop.rule
        )
        if case .answer(let answer) = visit.verdict, let body = complete(answer, in: visit.hop, context) {
            return .answered(answer.response, body: body)
        }
        let journey = Journey(client, context)
        journey.start()
        journey.go(on: visit)
        return .journey(journey)
    }

    private func firstVisit(for request: URLRequest, sendsUnclaimed: Bool) -> Visit? {
        let request = network.completing(request)
        if let links = stations.links, stations.isExternalLink(request) {
            return Visit(Hop(request), .open(links))
        }
        // Without the interceptor, a request that a rule takes would be sent to the network.
        guard interceptor.isEnabled else {
            return sendsUnclaimed || claims(request) ? Visit(Hop(request), .send) : nil
        }
        return stations.first(request) ?? (sendsUnclaimed ? Visit(Hop(request), .send) : nil)
    }

    /// The body of an answer that needs no journey: it is in memory, and neither a redirect nor the refusal of a token.
    private func complete(_ answer: Answer, in hop: Hop, _ context: LoadContext) -> Data? {
        let status = answer.response.statusCode
        guard case .data(let body) = answer.body, hop.ticket == nil, context.recording == nil, status != 401,
            !RedirectPolicy.statuses.contains(status)
        else { return nil }
        context.emit(answer.event)
        context.renew(answer)
        return body
    }
}
