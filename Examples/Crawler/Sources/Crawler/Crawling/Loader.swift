import COpenSSL
import Foundation
import FoundationNetworking
import SiteTools
import Synchronization
import WaystationHTTP

/// The response for one URL.
struct LoadedResponse: Sendable {
    var status: Int
    /// The URL after redirects.
    var finalURL: CanonicalURL?
    /// The media type in lower case, without parameters.
    var mimeType: String
    var charset: String?
    var retryAfter: String?
    /// The reason why the archive will not store the response, if the server forbids that.
    var refusal: String?
    /// Whether the archive answered (`Cache-Status`, RFC 9211).
    var isFromArchive: Bool
    var size: Int
    var digest: Data
    /// Nil if the caller did not want the body, or if it is too large.
    var body: Data?
}

/// Loads through one `URLSession`, and hashes bodies while they arrive, so that a film needs no more memory than a
/// page.
final class Loader: NSObject, Sendable {
    /// Larger bodies are hashed and archived, but not searched for links.
    static let keptBodyLimit = 32 << 20

    fileprivate struct Load {
        var response: HTTPURLResponse?
        var hash = BodyHash()
        var size = 0
        var body = Data()
        var keepsBody = true
        let wantsBody: @Sendable (_ mimeType: String) -> Bool
        let continuation: CheckedContinuation<LoadedResponse, any Error>
    }

    private let loads = Mutex<[Int: Load]>([:])
    private let session = Mutex<URLSession?>(nil)
    private let userAgent: String

    init(configuration: URLSessionConfiguration, userAgent: String) {
        self.userAgent = userAgent
        super.init()
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        self.session.withLock { $0 = session }
    }

    /// Releases the session, which otherwise keeps its delegate for ever.
    func invalidate() {
        session.withLock { session in
            session?.invalidateAndCancel()
            session = nil
        }
    }

    /// Loads a URL, and keeps its body if `wantsBody` returns true for its type.
    ///
    /// Throws `URLError`, or `CancellationError` if the task was cancelled.
    func load(
        _ url: CanonicalURL,
        wantsBody: @escaping @Sendable (_ mimeType: String) -> Bool = { _ in true }
    ) async throws -> LoadedResponse {
        guard let address = URL(string: url.string) else { throw URLError(.badURL) }
        var request = URLRequest(url: address)
        request.setValue(userAgent, forHTTPHeaderField: "User-Agent")
        guard let task = session.withLock({ $0?.dataTask(with: request) }) else { throw URLError(.cancelled) }
        return try await withTaskCancellationHandler {
            try Task.checkCancellation()
            return try await withCheckedThrowingContinuation { continuation in
                loads.withLock {
                    $0[task.taskIdentifier] = Load(wantsBody: wantsBody, continuation: continuation)
                }
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
    }
}

extension Loader: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        loads.withLock { loads in
            guard let response = response as? HTTPURLResponse else { return }
            loads[dataTask.taskIdentifier]?.response = response
            let wantsBody = loads[dataTask.taskIdentifier]?.wantsBody
            loads[dataTask.taskIdentifier]?.keepsBody = wantsBody?(ContentType(response).mimeType) ?? false
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        // The load is taken out while it changes: hashing then needs no lock, and calls for one task come one at a
        // time.
        guard var load = loads.withLock({ $0.removeValue(forKey: dataTask.taskIdentifier) }) else { return }
        load.hash.update(data)
        load.size += data.count
        if load.keepsBody {
            if load.size <= Self.keptBodyLimit {
                load.body.append(data)
            } else {
                load.keepsBody = false
                load.body = Data()
            }
        }
        loads.withLock { [load] in $0[dataTask.taskIdentifier] = load }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let load = loads.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        if let error {
            load.continuation.resume(throwing: error)
        } else if let response = load.response ?? task.response as? HTTPURLResponse {
            load.continuation.resume(returning: load.finished(response))
        } else {
            load.continuation.resume(throwing: URLError(.badServerResponse))
        }
    }
}

extension Loader.Load {
    fileprivate func finished(_ response: HTTPURLResponse) -> LoadedResponse {
        let type = ContentType(response)
        return LoadedResponse(
            status: response.statusCode,
            finalURL: response.url.flatMap { CanonicalURL(page: $0.absoluteString) },
            mimeType: type.mimeType,
            charset: type.charset,
            retryAfter: response.value(forHTTPHeaderField: "Retry-After"),
            refusal: CacheStatus.refusal(cacheControl: response.value(forHTTPHeaderField: "Cache-Control")),
            isFromArchive: CacheStatus.isHit(response.value(forHTTPHeaderField: "Cache-Status")),
            size: size,
            digest: hash.digest,
            body: keepsBody ? body : nil
        )
    }
}

/// SHA-256 of a body that arrives in parts.
private struct BodyHash: Sendable {
    private var context = SHA256_CTX()

    init() { SHA256_Init(&context) }

    mutating func update(_ part: Data) {
        part.withUnsafeBytes { bytes in _ = SHA256_Update(&context, bytes.baseAddress, bytes.count) }
    }

    /// The digest of all parts so far.
    var digest: Data {
        var context = context
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        SHA256_Final(&digest, &context)
        return Data(digest)
    }
}
