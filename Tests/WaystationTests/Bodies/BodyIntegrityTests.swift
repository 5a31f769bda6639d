import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

/// No request loses its body: the origin's digest is that of the app's body, whatever happens on the way.
///
/// `make bodies` tests bodies of up to 256 MiB and measures the memory that they take.
@Suite("A request's body arrives unchanged")
struct BodyIntegrityTests {
    /// How the app passes a body.
    enum Form: CaseIterable { case data, stream, header, uploadData, uploadFile, uploadStream }

    /// The origin's reaction to the first request.
    enum Way: String, CaseIterable {
        case plain, temporary, permanent, secret, dropped

        var path: String { "/" + rawValue }
        var exchanges: Int { self == .plain ? 1 : 2 }
    }

    private let origin: ScriptedOrigin
    private let folder: TemporaryDirectory

    init() throws {
        let dropped = Counter()
        origin = try ScriptedOrigin(digestsBodies: true) { request in
            switch request.path {
            case "/temporary": .redirect(307, to: "/there")
            case "/permanent": .redirect(308, to: "/there")
            case "/secret" where request.value(of: "Authorization") == nil:
                .status(401, fields: ["WWW-Authenticate": "Basic realm=\"here\""])
            case "/dropped" where !dropped.next().isMultiple(of: 2): .closed
            default: .ok(request.method)
            }
        }
        folder = try TemporaryDirectory()
    }

    @Test("in every form, with every method, on every path", arguments: Form.allCases, ["POST", "PUT", "PATCH"])
    func small(form: Form, method: String) async throws {
        for count in [0, 1, 4_095, 4_096, 4_097, 65_535, 65_536, 65_537, 1 << 20] {
            try await send(form, method, count)
        }
    }

    @Test("with a size of sixteen mebibytes", arguments: Form.allCases.filter { $0 != .header })
    func large(form: Form) async throws {
        try await send(form, "POST", 16 << 20)
    }

    private func send(_ form: Form, _ method: String, _ count: Int) async throws {
        let body = Self.body(count)
        let digest = Data(MessageDigest.of(body))
        let file = try folder.write(body, to: "body")
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .network)]
            $0.headerBody = HeaderBody()
            $0.bodySpool = BodySpool(memory: .kibibytes(64), directory: folder.url)
        }
        for way in Way.allCases {
            // Foundation sends uploads itself. It sends the body again with credentials, but not after a redirect.
            let isUpload = [.uploadData, .uploadFile, .uploadStream].contains(form)
            guard !isUpload || way == .plain || way == .secret else { continue }
            // Only PUT is idempotent, and so repeated. A data task without a body is loaded by Foundation itself.
            guard way != .dropped || (method == "PUT" && (form != .data || count > 0)) else { continue }
            let delegate = BodyDelegate(file)
            let session = URLSession(
                configuration: .ephemeral.intercepted(by: interceptor),
                delegate: delegate,
                delegateQueue: nil
            )
            var request = URLRequest(url: origin.url(way.path))
            request.httpMethod = method
            request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
            let before = origin.requestCount
            let task: URLSessionTask
            switch form {
            case .data:
                request.httpBody = body
                task = session.dataTask(with: request)
            case .stream:
                request.httpBodyStream = InputStream(url: file)
                task = session.dataTask(with: request)
            case .header:
                for (name, value) in HeaderBody().fields(for: body, encoding: .base64) {
                    request.setValue(value, forHTTPHeaderField: name)
                }
                task = session.dataTask(with: request)
            case .uploadData: task = session.uploadTask(with: request, from: body)
            case .uploadFile: task = session.uploadTask(with: request, fromFile: file)
            case .uploadStream: task = session.uploadTask(withStreamedRequest: request)
            }
            task.resume()
            let error = await delegate.completion()
            let sent = origin.requests.dropFirst(before)
            #expect(error == nil, "\(form) \(method) \(count) \(way): \(String(describing: error))")
            #expect(sent.count == way.exchanges, "\(form) \(method) \(count) \(way)")
            for request in sent {
                #expect(request.method == method)
                #expect(request.bodyDigest == digest, "\(form) \(method) \(count) \(way): \(request.bodyLength)")
            }
            session.finishTasksAndInvalidate()
        }
    }

    /// Bytes that repeat only after 65 537 bytes, more than any buffer holds.
    private static func body(_ count: Int) -> Data {
        var body = Data(capacity: count)
        while body.count < count { body += block.prefix(count - body.count) }
        return body
    }

    private static let block: Data = {
        var random = SeededGenerator(seed: 1)
        return Data((0..<65_537).map { _ in UInt8.random(in: 0...255, using: &random) })
    }()
}

/// Answers challenges, provides a body stream when asked, and waits for the end.
private final class BodyDelegate: NSObject, URLSessionDataDelegate {
    private let file: URL
    private let ends: AsyncStream<URLError?>
    private let ended: AsyncStream<URLError?>.Continuation

    init(_ file: URL) {
        self.file = file
        (ends, ended) = AsyncStream.makeStream()
    }

    func completion() async -> URLError? {
        for await end in ends { return end }
        return nil
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @Sendable @escaping (InputStream?) -> Void
    ) {
        completionHandler(InputStream(url: file))
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @Sendable @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ended.yield(error.map { ($0 as? URLError) ?? URLError(.unknown) })
    }
}
