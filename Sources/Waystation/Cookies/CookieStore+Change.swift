public import Foundation
public import WaystationCookies

extension CookieStore {
    /// A change of the cookies, and who made it.
    public struct Change: Hashable, Sendable {
        /// Who changes cookies.
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
            /// Time.
            case expiry
        }

        /// What became of which cookie.
        public let change: CookieChange
        /// Who did it.
        public let author: Author
    }
}
