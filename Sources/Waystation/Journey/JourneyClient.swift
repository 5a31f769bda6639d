package import WaystationFoundation

/// The recipient of a load's response: a task of a `URLSession`, a connection of a server, a test.
///
/// The journey makes all calls of the members below ``perform(_:)`` within it, one at a time and in order.
package protocol JourneyClient: AnyObject, Sendable {
    /// Whether a redirect is followed only if ``follow(_:to:_:)`` agrees.
    ///
    /// It is read on any thread.
    var decidesAboutRedirects: Bool { get }

    /// Whether ``perform(_:)`` is certain to run its work.
    ///
    /// It never changes.
    var isReachable: Bool { get }

    /// Runs work on the client's queue; callable from any thread.
    ///
    /// Works run one at a time, in the order of the calls.
    func perform(_ work: @escaping @Sendable () -> Void)

    // MARK: - The response

    /// Whether the client takes heads as Foundation has them; a load then ends if Foundation makes none of a head.
    ///
    /// It never changes.
    var needsResponse: Bool { get }

    /// Takes the head; a second head replaces the first one, because a refused request was sent again.
    ///
    /// - Parameters:
    ///   - head: The head; if ``needsResponse`` is true, it was made of a response of Foundation's.
    ///   - decide: Called once, on any thread, if the client decides later; false ends the load as cancelled.
    /// - Returns: True to continue at once; false to wait for the decision.
    func take(_ head: ResponseHead, _ decide: @escaping @Sendable (_ continues: Bool) -> Void) -> Bool

    /// Takes a part of the body.
    ///
    /// A client that is full then calls ``Journey/continueDelivery()`` of the journey when it is ready again.
    func take(_ part: Data, of journey: Journey)

    /// Whether the client takes a part of the body now; if not, it calls ``Journey/continueDelivery()`` later.
    var isReady: Bool { get }

    /// Whether the client passes each part on as it arrives, instead of keeping the parts until the end.
    var isStreamed: Bool { get }

    /// Runs work when everything that the client has taken was passed on; the work may run on any thread.
    func whenPassedOn(_ work: @escaping @Sendable () -> Void)

    /// Takes the end of the load; complete when `error` is nil.
    func end(_ error: (any Error)?)

    /// A part of the request's body was sent; the counts are in bytes.
    func didSend(_ count: Int64, total: Int64, expected: Int64)

    // MARK: - Questions

    /// Asks whether to follow a redirect with `next`.
    ///
    /// - Parameters:
    ///   - response: The redirect.
    ///   - next: The request that would follow.
    ///   - answer: Called once, on any thread, with the request to send, or with nil to take the redirect itself as the
    ///     answer.
    func follow(
        _ response: HTTPURLResponse,
        to next: URLRequest,
        _ answer: @escaping @Sendable (URLRequest?) -> Void
    )

    /// Asks for the credentials that the server demands.
    ///
    /// - Parameters:
    ///   - challenge: The challenge.
    ///   - completion: Called once, on any thread.
    func answer(
        _ challenge: URLAuthenticationChallenge,
        _ completion: @escaping @Sendable (ChallengeAnswer) -> Void
    )

    /// Runs the request in another way than through the journey, because there is nothing to store or to change.
    ///
    /// - Returns: False when the client has no other way: then the journey sends the request.
    func handBack() -> Bool
}
