/// The answer of a source.
public struct UpdateAnswer: Sendable {
    /// The offers, at most one for each module; a module without an offer is not changed.
    public var offers: [ModuleOffer]
    /// How long the server asked the client to wait, if it did.
    public var retryAfter: Duration?
    /// The state to store before following any offer, and to pass with the next inquiry; nil when the source needs
    /// none.
    public var catalogueState: CatalogueState?
    /// Parts of the answer that were left out since they are not valid; the other offers count.
    public var problems: [PackError]

    /// Makes an answer.
    public init(
        offers: [ModuleOffer],
        retryAfter: Duration? = nil,
        catalogueState: CatalogueState? = nil,
        problems: [PackError] = []
    ) {
        self.offers = offers
        self.retryAfter = retryAfter
        self.catalogueState = catalogueState
        self.problems = problems
    }
}
