import Foundation
import Waystation
import WaystationOrigin

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Loads with cookies, and from servers that ask for a credential.
extension TrapLoads {
    func pathOfCookie() async throws -> String? {
        let origin = try ScriptedOrigin { request in
            request.path.hasPrefix("/shop") ? .ok("", fields: ["Set-Cookie": "id=1; Path=/shop"]) : .ok()
        }
        let session = try session()
        for path in ["/shop/", "/other"] { _ = try await session.data(from: origin.url(path)) }
        let sent = origin.requests.last?.value(of: "Cookie")
        return sent == nil ? nil : "a cookie of /shop is sent to /other"
    }

    func unansweredChallenge() async throws -> String? {
        let origin = try ScriptedOrigin { $0.path == "/secret" ? Self.challenge : .ok() }
        let session = try session()
        let status = await end {
            (try? await session.data(from: origin.url("/secret")))?.1.status ?? 0
        } before: {
            await origin.waitForRequests(1)
            await otherLoads(session, origin)
        }
        guard let status else { return "the load does not end" }
        return status == 401 ? nil : "the load ends without the 401"
    }

    func credentialBehindRedirect() async throws -> String? {
        let asking = try ScriptedOrigin { $0.value(of: "Authorization") == nil ? Self.challenge : .ok() }
        let target = asking.url().absoluteString
        let redirecting = try ScriptedOrigin { _ in .redirect(302, to: target) }
        let delegate = LoadRecorder(credential: URLCredential(user: "u", password: "p", persistence: .none))
        try session(delegate: delegate).dataTask(with: redirecting.url()).resume()
        _ = await end {
            await delegate.load
        } before: {
            await redirecting.waitForRequests(2)
        }
        if redirecting.requests.contains(where: { $0.value(of: "Authorization") != nil }) {
            return "the server that redirected gets the credential"
        }
        return asking.requests.last?.value(of: "Authorization") == nil ? "no server gets the credential" : nil
    }

    func storedCredential() -> String? {
        func space() -> URLProtectionSpace {
            URLProtectionSpace(
                host: "127.0.0.1",
                port: 80,
                protocol: "http",
                realm: "r",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic
            )
        }
        let storage = URLCredentialStorage()
        let credential = URLCredential(user: "u", password: "p", persistence: .forSession)
        storage.setDefaultCredential(credential, for: space())
        return storage.defaultCredential(for: space()) != nil
            ? nil : "protection spaces are compared by identity, so a stored credential is not found"
    }

    private static var challenge: ScriptedOrigin.Response {
        .status(401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
    }
}
