import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting

@Suite("A challenge behind a redirect to another origin")
struct RedirectedChallengeTests {
    enum Source: CaseIterable { case delegate, storage }
    enum Kind: CaseIterable { case upload, download }

    /// Redirects to `other`.
    private let first: ScriptedOrigin
    /// Asks for a credential.
    private let other: ScriptedOrigin

    init() throws {
        let other = try ScriptedOrigin { request in
            request.value(of: "Authorization") == "Basic dTpw"
                ? .ok("yes") : .status(401, fields: ["WWW-Authenticate": "Basic realm=\"r\""], body: Data("no".utf8))
        }
        let target = other.url("/there").absoluteString
        first = try ScriptedOrigin { _ in .redirect(302, to: target) }
        self.other = other
    }

    /// A session with the credential in its storage, or with a delegate that answers with it.
    private func session(_ source: Source) throws -> (URLSession, RecordingDelegate?) {
        let credential = URLCredential(user: "u", password: "p", persistence: .forSession)
        let configuration = URLSessionConfiguration.ephemeral
        var delegate: RecordingDelegate?
        switch source {
        case .delegate: delegate = RecordingDelegate(credential: { _ in (.useCredential, credential) })
        case .storage:
            configuration.urlCredentialStorage = OneCredential(credential, port: try #require(other.url("/").port))
        }
        let interceptor = try Interceptor { $0.rules = [.allow("http://127.0.0.1:*/**", via: .network)] }
        let session = URLSession(
            configuration: configuration.intercepted(by: interceptor),
            delegate: delegate,
            delegateQueue: nil
        )
        return (session, delegate)
    }

    private func credentials(sentTo origin: ScriptedOrigin) -> [String?] {
        origin.requests.map { $0.value(of: "Authorization") }
    }

    @Test("is answered to the origin that asked, and never to the one that redirected", arguments: Source.allCases)
    func dataTask(source: Source) async throws {
        let (session, delegate) = try session(source)
        if let delegate {
            session.dataTask(with: first.url("/a")).resume()
            await delegate.completion()
            #expect(delegate.body == Data("noyes".utf8))
            #expect(delegate.calls.suffix(3) == [.response(200), .data(3), .completed(nil)])
        } else {
            #expect(try await session.data(from: first.url("/a")).0 == Data("yes".utf8))
        }
        #expect(credentials(sentTo: first) == [nil])
        #expect(credentials(sentTo: other) == [nil, "Basic dTpw"])
    }

    @Test("is the answer to a task that only Foundation can load", arguments: Source.allCases, Kind.allCases)
    func otherTask(source: Source, kind: Kind) async throws {
        let (session, delegate) = try session(source)
        var request = URLRequest(url: first.url("/a"))
        if kind == .upload { request.httpMethod = "POST" }
        let status: Int?
        if let delegate {
            let task: URLSessionTask =
                kind == .upload
                ? session.uploadTask(with: request, from: Data("body".utf8)) : session.downloadTask(with: request)
            task.resume()
            await delegate.completion()
            #expect(delegate.calls.last == .completed(nil))
            status = (task.response as? HTTPURLResponse)?.statusCode
        } else {
            let response =
                kind == .upload
                ? try await session.upload(for: request, from: Data("body".utf8)).1
                : try await session.download(for: request).1
            status = (response as? HTTPURLResponse)?.statusCode
        }
        #expect(status == 401)
        #expect(credentials(sentTo: first) == [nil])
        #expect(credentials(sentTo: other) == [nil])
    }

    /// Foundation would wait for its own queue, which ends the process.
    @Test("is not answered with a stored credential where only Foundation could do so", arguments: Kind.allCases)
    func storedCredential(kind: Kind) async throws {
        let (session, _) = try session(.storage)
        var request = URLRequest(url: other.url("/there"))
        if kind == .upload { request.httpMethod = "POST" }
        let response =
            kind == .upload
            ? try await session.upload(for: request, from: Data("body".utf8)).1
            : try await session.download(for: request).1
        #expect((response as? HTTPURLResponse)?.statusCode == 401)
        #expect(credentials(sentTo: other) == [nil])
    }
}

/// A storage with the credential of one server.
///
/// Foundation's own finds a credential only by the very object under which it was stored, because protection spaces on
/// Linux are compared by identity.
///
/// `@unchecked Sendable` because the superclass is; the properties added here are constants.
private final class OneCredential: URLCredentialStorage, @unchecked Sendable {
    private let credential: URLCredential
    private let port: Int

    init(_ credential: URLCredential, port: Int) {
        self.credential = credential
        self.port = port
        super.init()
    }

    override func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
        space.port == port ? credential : nil
    }
}
