package import WaystationCookies

/// The changes that a page has made to its cookies, as its request shows them.
package struct PageChanges: Sendable {
    /// The pairs of new cookies.
    package var added: [String] = []
    /// The cookies to which the page has given another value, with their new pairs.
    package var changed: [Cookie.ID: String] = [:]
    /// New pairs that the page's browser did not have any more before the page set them.
    ///
    /// They are therefore no remains from before a log-out.
    package var setAgain: Set<String> = []
    /// The cookies that the page has removed.
    package var removed: [Cookie.ID] = []

    package init() {}
}
