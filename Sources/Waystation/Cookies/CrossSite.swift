package import Foundation

/// Documents of no site (RFC 6761 §6.4), for requests that a page of another site causes.
///
/// A client that does not know the page sets one of them as the main document of its request.
package enum CrossSite {
    /// The user follows a link of the page: the request carries cookies with `SameSite=Lax` (RFC 6265bis §5.2).
    package static let link = URL(string: "https://elsewhere.invalid/link")
    /// The page asks for the resource itself.
    package static let page = URL(string: "https://elsewhere.invalid/")
}
