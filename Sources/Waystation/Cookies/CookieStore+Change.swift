public import Foundation
public import WaystationCookies

extension CookieStore {
    /// A change of the cookies, and its author.
    public struct Change: Hashable, Sendable {
        /// The author of a change.
        ///
        /// More cases may come: a `switch` needs a default.
        public enum Author: Hashable, Sendable {
            /// The app, through the store.
            case app
            /// The response of a URL.
            case response(URL)
            /// The login of an account.
            case login(account: String)
            /// The log-out of an account.
            case logout(account: String)
            /// A storage that is kept in step, such as the `HTTPCookieStorage` of a session.
            case storage(String)
            /// The cookie's expiry.
            case expiry
        }

        /// The cookie and how it changed.
        public let change: CookieChange
        /// The author of the change.
        public let author: Author
    }
}
