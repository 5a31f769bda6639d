import Foundation
import FoundationNetworking
import WaystationHTTP

/// The example in the comments of `WaystationHTTP/Cookies`, compiled and not run.
enum CookieExamples {
    static func jar(_ url: URL, _ request: inout URLRequest, now: Date) {
        // snippet: comment-cookie-jar
        var jar = CookieJar()
        jar.store("sid=31d4; Path=/; Secure; HttpOnly", from: url, now: now)
        request.setValue(jar.header(for: url, now: now), forHTTPHeaderField: "Cookie")
        // end snippet
    }
}
