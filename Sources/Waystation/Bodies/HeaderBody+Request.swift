package import Foundation
package import FoundationNetworking
import HTTPTypes

extension HeaderBody {
    /// What became of a request whose header has fields of this form.
    package enum Outcome: Sendable {
        /// It goes on like this, without those fields.
        case request(URLRequest)
        /// It must not be sent; the request is the one that may be shown.
        case failure(URLRequest, URLError)
    }

    /// Takes the body out of a request's header; nil when there is none in it.
    package func take(from request: URLRequest) -> Outcome? {
        guard let fields = request.allHTTPHeaderFields, fields.keys.contains(where: owns) else { return nil }
        var next = request
        for field in fields.keys where owns(field) { next.setValue(nil, forHTTPHeaderField: field) }
        let carriesBody = request.httpBodyStream != nil || !(request.httpBody?.isEmpty ?? true)
        guard !carriesBody else { return .request(next) }
        do throws(WaystationError) {
            guard let body = try body(in: fields) else { return .request(next) }
            let method = request.httpMethod ?? "GET"
            guard body.isEmpty || !["GET", "HEAD"].contains(method) else {
                let message = "\(name) has a body for a \(method), which has none: send it with POST"
                throw WaystationError(.invalidHeaderBody, message)
            }
            return .request(next.carrying(body))
        } catch {
            return .failure(next, failure(of: next, error))
        }
    }

    private func failure(of request: URLRequest, _ error: WaystationError) -> URLError {
        URLError(
            error.code == .headerBodyTooLarge ? .dataLengthExceedsMaximum : .cannotDecodeContentData,
            failing: request.url,
            error.message,
            underlying: error
        )
    }

    /// Refuses a name that is no field name.
    func check() throws(WaystationError) {
        guard HTTPField.Name(name) == nil else { return }
        throw WaystationError(.invalidHeaderBody, "\"\(name)\" is no name of a header field (RFC 9110 §5.1)")
    }
}

extension URLRequest {
    /// The request with a body in memory, whose length is what it is.
    func carrying(_ body: Data) -> URLRequest {
        var request = framedByTransport
        request.httpBody = body
        return request
    }

    /// The request without what the app said about the framing of its body.
    ///
    /// Foundation sends a stream chunked, and `Content-Length` of the app's beside it: two framings in one message,
    /// which RFC 9112 §6.2 forbids, since servers disagree about its end.
    var framedByTransport: URLRequest {
        var request = self
        for name in ["Content-Length", "Transfer-Encoding"] { request.setValue(nil, forHTTPHeaderField: name) }
        return request
    }
}
