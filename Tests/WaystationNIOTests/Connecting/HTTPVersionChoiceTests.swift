#if NIO
import Testing

@testable import WaystationNIO

@Suite("The version of HTTP")
struct HTTPVersionChoiceTests {
    @Test("HTTP/2 is offered if the engine can speak it, and used if the server chooses it")
    func automatic() throws {
        let choice = HTTPVersionChoice(versions: .automatic, canSpeakHTTP2: true)
        #expect(choice.offeredProtocols == ["h2", "http/1.1"])
        #expect(try choice.version(negotiated: "h2") == .http2)
        #expect(try choice.version(negotiated: "http/1.1") == .http1)
        #expect(try choice.version(negotiated: nil) == .http1)
    }

    @Test("Only HTTP/1.1 is offered by an engine that cannot speak HTTP/2, or if the options say so")
    func http1() throws {
        let choices = [
            HTTPVersionChoice(versions: .automatic, canSpeakHTTP2: false),
            HTTPVersionChoice(versions: .http1, canSpeakHTTP2: true),
        ]
        for choice in choices {
            #expect(choice.offeredProtocols == ["http/1.1"])
            #expect(try choice.version(negotiated: nil) == .http1)
            #expect(throws: TransportFailure.self) { try choice.version(negotiated: "h2") }
        }
    }

    @Test("With prior knowledge HTTP/2 is spoken with and without TLS")
    func priorKnowledge() throws {
        let choice = HTTPVersionChoice(versions: .http2PriorKnowledge, canSpeakHTTP2: true)
        #expect(choice.offeredProtocols == ["h2"])
        #expect(try choice.version(negotiated: nil) == .http2)
        #expect(try choice.version(negotiated: "h2") == .http2)
        #expect(throws: TransportFailure.self) { try choice.version(negotiated: "http/1.1") }
        let unable = HTTPVersionChoice(versions: .http2PriorKnowledge, canSpeakHTTP2: false)
        #expect(throws: TransportFailure.self) { try unable.version(negotiated: nil) }
    }
}
#endif
