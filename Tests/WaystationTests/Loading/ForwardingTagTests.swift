import Foundation
import FoundationNetworking
import Testing

@testable import Waystation

@Suite("The tag on an interceptor's own requests")
struct ForwardingTagTests {
    @Test(
        "a tagged request is recognised, whatever its main document",
        arguments: [nil, "https://a.example/page?x=1#top", "about:blank", "/relative", "waystation-forwarded:"]
    )
    func roundTrip(mainDocument: String?) throws {
        var request = try URLRequest("POST", "https://a.example/x", ["Accept": "text/html"], body: "b")
        request.mainDocumentURL = mainDocument.flatMap { URL(string: $0) }
        let tagged = ForwardingTag.tagging(request)
        #expect(ForwardingTag.isTagged(tagged))
        #expect(ForwardingTag.isTagged(ForwardingTag.tagging(tagged)))
    }

    @Test("a request without the tag is not recognised")
    func untagged() throws {
        var request = try URLRequest("GET", "waystation-forwarded://a.example/x")
        #expect(!ForwardingTag.isTagged(request))
        request.mainDocumentURL = URL(string: "https://a.example/waystation-forwarded:")
        #expect(!ForwardingTag.isTagged(request))
    }

    @Test("the tag does not change the request that is sent")
    func wire() throws {
        var request = try URLRequest("POST", "https://a.example/x", ["Accept": "text/html"], body: "b")
        request.timeoutInterval = 7
        request.cachePolicy = .reloadIgnoringLocalCacheData
        let tagged = ForwardingTag.tagging(request)
        #expect(tagged.url == request.url)
        #expect(tagged.httpMethod == "POST")
        #expect(tagged.allHTTPHeaderFields == request.allHTTPHeaderFields)
        #expect(tagged.httpBody == request.httpBody)
        #expect(tagged.timeoutInterval == 7)
        #expect(tagged.cachePolicy == request.cachePolicy)
    }

    @Test("the main document is kept in the tag and in the request that was tagged")
    func mainDocument() throws {
        var request = try URLRequest("GET", "https://a.example/x")
        request.mainDocumentURL = URL(string: "https://a.example/page?x=1#top")
        let tagged = ForwardingTag.tagging(request)
        #expect(request.mainDocumentURL?.absoluteString == "https://a.example/page?x=1#top")
        #expect(tagged.mainDocumentURL?.absoluteString.hasSuffix(":https://a.example/page?x=1#top") == true)
        // Each step on a request's way tags it.
        #expect(ForwardingTag.document(of: ForwardingTag.tagging(tagged)) == request.mainDocumentURL)
    }
}
