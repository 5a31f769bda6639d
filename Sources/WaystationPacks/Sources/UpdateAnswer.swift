/// What a source answered.
public struct UpdateAnswer: Sendable {
    /// What there is for each module, at most one offer a module; a module that is not named stays as it is.
    public var offers: [ModuleOffer]
    /// How long the server wants to be left alone, when it said so.
    public var retryAfter: Duration?
    /// What to keep, before any offer is followed, and to send with the next inquiry; nil when the source needs nothing.
    public var catalogueState: CatalogueState?
    /// Parts of the answer that were left out because they cannot be understood; the other offers hold.
    public var problems: [PackError]

    /// An answer.
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
