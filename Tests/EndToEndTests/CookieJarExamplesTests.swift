import Foundation
import FoundationNetworking
import Testing
import WaystationHTTP

@Suite("The documentation's examples of cookies as values")
struct CookieJarExamplesTests {
    @Test("a cookie jar takes the cookies of a response, and returns the Cookie field of a request")
    func cookies() throws {
        let (field, now) = ("a=1; Path=/shop, b=2; Expires=Wed, 09 Jun 2100 10:18:14 GMT", Date())
        let url = try #require(URL(string: "https://shop.example/shop/cart"))
        let next = try #require(URL(string: "https://shop.example/shop/pay"))
        var request = URLRequest(url: next)
        // snippet: cookies
        var jar = CookieJar()  // import WaystationHTTP
        for outcome in jar.store(joined: field, from: url, now: now) {  // as in allHeaderFields
            for change in outcome.changes { print(change) }  // added, changed, removed, expired, evicted
        }
        request.setValue(jar.header(for: next, now: now), forHTTPHeaderField: "Cookie")
        // end snippet
        #expect(request.value(forHTTPHeaderField: "Cookie") == "a=1; b=2")
    }
}
