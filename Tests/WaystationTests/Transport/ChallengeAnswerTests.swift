import Foundation
import FoundationNetworking
import Testing

@testable import Waystation

@Suite("Answers to a challenge")
struct ChallengeAnswerTests {
    private let credential = URLCredential(user: "Aladdin", password: "open sesame", persistence: .none)

    private func challenge(
        _ field: String = "Basic realm=\"r\"",
        proposed: URLCredential? = nil,
        status: Int = 401,
        url: String = "https://a.example/x"
    ) throws -> URLAuthenticationChallenge? {
        let head = try ResponseHead.head(status, ["WWW-Authenticate": field], at: url)
        guard let space = URLProtectionSpace.asked(by: head) else { return nil }
        return URLAuthenticationChallenge(
            protectionSpace: space,
            proposedCredential: proposed,
            previousFailureCount: 0,
            failureResponse: head.response,
            error: nil,
            sender: ChallengeSender()
        )
    }

    private func authorization(_ answer: ChallengeAnswer) -> String? {
        guard case .retry(let authorization, _) = answer else { return nil }
        return authorization
    }

    private func name(_ answer: ChallengeAnswer) -> String {
        switch answer {
        case .retry: "retry"
        case .complete: "complete"
        case .cancel: "cancel"
        }
    }

    @Test("a credential is encoded as in RFC 7617 §2")
    func credentialIsSent() throws {
        let challenge = try #require(try challenge())
        #expect(
            authorization(ChallengeAnswer(.useCredential, credential, for: challenge))
                == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
        )
        let umlaut = URLCredential(user: "test", password: "123£", persistence: .none)
        #expect(authorization(ChallengeAnswer(.useCredential, umlaut, for: challenge)) == "Basic dGVzdDoxMjPCow==")
    }

    @Test("default handling uses the credential that is stored, if any")
    func defaultHandling() throws {
        let stored = try #require(try challenge(proposed: credential))
        #expect(name(ChallengeAnswer(.performDefaultHandling, nil, for: stored)) == "retry")
        let unknown = try #require(try challenge())
        #expect(name(ChallengeAnswer(.performDefaultHandling, nil, for: unknown)) == "complete")
    }

    @Test("without a credential the app gets the refusal")
    func noCredential() throws {
        let challenge = try #require(try challenge())
        #expect(name(ChallengeAnswer(.useCredential, nil, for: challenge)) == "complete")
    }

    @Test("a delegate that refuses cancels the load")
    func refused() throws {
        let challenge = try #require(try challenge(proposed: credential))
        #expect(name(ChallengeAnswer(.cancelAuthenticationChallenge, credential, for: challenge)) == "cancel")
        #expect(name(ChallengeAnswer(.rejectProtectionSpace, credential, for: challenge)) == "cancel")
    }

    @Test("only Basic makes a challenge, since no other scheme is supported")
    func digest() throws {
        #expect(try challenge("Digest realm=\"d\", nonce=\"n\"") == nil)
        #expect(try challenge("Bearer realm=\"d\"") == nil)
    }

    @Test("the protection space has host, port, scheme and realm, and prefers Basic at any position")
    func space() throws {
        let space = try #require(try challenge("Digest realm=\"d\", nonce=\"n\", Basic realm=\"b\"")).protectionSpace
        #expect(space.authenticationMethod == NSURLAuthenticationMethodHTTPBasic)
        #expect(space.realm == "b")
        #expect(space.host == "a.example")
        #expect(space.port == 443)
        #expect(space.protocol == "https")
        #expect(try challenge(url: "http://a.example:8080/x")?.protectionSpace.port == 8080)
        #expect(try challenge(url: "http://a.example/x")?.protectionSpace.port == 80)
    }

    @Test("other statuses and other schemes make no challenge")
    func nothingAsked() throws {
        #expect(try challenge(status: 403) == nil)
        #expect(try challenge(status: 407) == nil)
        #expect(try challenge("Bearer realm=\"b\"") == nil)
        #expect(URLProtectionSpace.asked(by: try .head(401)) == nil)
    }
}
