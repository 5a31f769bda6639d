#if Gateway
import Foundation
import NIOHTTP1
import Testing
import Waystation

@testable import WaystationGateway

@Suite("The heads of responses that were translated last")
struct TranslatedHeadsTests {
    private let heads = TranslatedHeads()

    private func response() throws -> ResponseHead {
        ResponseHead(url: try #require(URL(string: "https://shop.example/")), statusCode: 200, fields: [:])
    }

    /// Asks for the head of a response, and returns whether it had to be translated.
    private func isTranslated(_ response: ResponseHead, isNamed: Bool = true, isHit: Bool = true) -> Bool {
        var isTranslated = false
        _ = heads.head(of: response, isNamed: isNamed) {
            isTranslated = true
            return TranslatedHead(headers: HTTPHeaders(), length: nil, setCookies: [], isHit: isHit)
        }
        return isTranslated
    }

    @Test("are kept by the response and by the kind of name")
    func key() throws {
        let (first, second) = (try response(), try response())
        #expect([true, false].map { isTranslated(first, isNamed: $0) } == [true, true])
        #expect([true, false].map { isTranslated(first, isNamed: $0) } == [false, false])
        #expect(isTranslated(second))
    }

    @Test("are not kept for responses of the network")
    func network() throws {
        let response = try response()
        #expect(isTranslated(response, isHit: false))
        #expect(isTranslated(response, isHit: false))
    }

    @Test("are 256 at most")
    func bound() throws {
        let responses = try (0..<256).map { _ in try response() }
        #expect(responses.allSatisfy { isTranslated($0) })
        #expect(!responses.contains { isTranslated($0) })
        #expect(isTranslated(try response()))
        #expect(responses.allSatisfy { isTranslated($0) })
    }
}
#endif
