import HTTPTypes
import Synchronization
import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// The comparison of a body with the digests that its response states (RFC 9530), for strategies that ask for it.
struct DigestCheck: Sendable {
    private let stated: [StatedDigests.Digest]
    private var running: [StatedDigests.Algorithm: MessageDigest] = [:]

    /// Begins a comparison; nil if there is nothing to compare with.
    init?(_ stated: StatedDigests) {
        guard !stated.digests.isEmpty else { return nil }
        self.stated = stated.digests
        for digest in stated.digests { running[digest.algorithm] = MessageDigest(digest.algorithm.hash) }
    }

    /// Begins a comparison of the body that follows a head.
    ///
    /// It is nil if the response states no digest, and if the engine has removed a content coding: then the digest is that
    /// of other bytes.
    init?(_ head: ResponseHead, to method: HTTPRequest.Method) {
        guard !head.isCoded else { return nil }
        let response = HTTPResponse(head)
        self.init(StatedDigests(ofContentAfter: response.headerFields, status: head.statusCode, to: method))
    }

    /// Takes the next bytes of the body.
    mutating func update(_ part: Data) {
        for algorithm in running.keys { running[algorithm]?.update(part) }
    }

    /// The digest that all bytes so far do not agree with; nil if they agree with all.
    var mismatch: StatedDigests.Digest? {
        stated.first { running[$0.algorithm]?.bytes != $0.value }
    }

    /// The error of a load whose body does not agree; nil if it agrees.
    func error(of url: URL?) -> URLError? {
        guard let mismatch else { return nil }
        let message = """
            the body of \(url?.shown ?? "the response") does not have the \(mismatch.algorithm.rawValue) that its field \
            \(mismatch.field) states: it was damaged or changed on its way, or the server states a wrong digest; nothing \
            of it is stored
            """
        return URLError(
            .cannotDecodeRawData,
            failing: url,
            message,
            underlying: WaystationError(.digestMismatch, message)
        )
    }
}

extension URLError {
    /// Whether a body does not have the digest that its response states.
    var isDigestMismatch: Bool { (userInfo[NSUnderlyingErrorKey] as? WaystationError)?.code == .digestMismatch }
}

extension StatedDigests.Algorithm {
    fileprivate var hash: MessageDigest.Algorithm {
        switch self {
        case .sha256: .sha256
        case .sha512: .sha512
        }
    }
}

extension URLRequest {
    /// The request that asks for a digest of the representation, unless the app has done so itself.
    var wantingDigest: URLRequest {
        guard value(forHTTPHeaderField: StatedDigests.wantField) == nil else { return self }
        var request = self
        request.setValue(StatedDigests.wantValue, forHTTPHeaderField: StatedDigests.wantField)
        return request
    }
}

/// The body of joined parts, which is compared with the digest of the whole when its last byte is read.
///
/// Each part was compared when it arrived, if its response stated a digest of the part alone. That of the whole can be
/// compared only now. The reads must be in order.
final class CheckedBody: BodySource {
    private struct State {
        var check: DigestCheck
        var position = 0
        /// The error of every read of the last byte, once all bytes were compared.
        var failure: URLError?
    }

    private let whole: any BodySource
    private let url: URL?
    private let state: Mutex<State>
    /// Removes the parts.
    private let refuse: @Sendable () -> Void

    init(_ whole: any BodySource, _ check: DigestCheck, of url: URL?, refuse: @escaping @Sendable () -> Void) {
        (self.whole, self.url, self.refuse) = (whole, url, refuse)
        state = Mutex(State(check: check))
    }

    var length: Int { whole.length }

    func read(at offset: Int, count: Int) throws -> Data {
        let part = try whole.read(at: offset, count: count)
        let (error, isFirst): (URLError?, Bool) = state.withLock { state in
            // A byte that is read again, by another load of the same body for instance, was compared already.
            let new = part.dropFirst(max(0, state.position - offset))
            guard offset <= state.position, !new.isEmpty else {
                return (offset + part.count == whole.length ? state.failure : nil, false)
            }
            state.check.update(Data(new))
            state.position += new.count
            if state.position == whole.length { state.failure = state.check.error(of: url) }
            return (state.failure, true)
        }
        guard let error else { return part }
        if isFirst { refuse() }
        throw error
    }
}
