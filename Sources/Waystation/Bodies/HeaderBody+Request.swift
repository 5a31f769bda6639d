package import Foundation
import HTTPTypes
import WaystationFields
import WaystationTransport

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

extension HeaderBody {
    /// The result for a request whose header has fields of this form.
    package enum Outcome: Sendable {
        /// The load continues with this request, which no longer has those fields.
        case request(URLRequest)
        /// The request must not be sent. The attached request can be shown in errors and events.
        case failure(URLRequest, URLError)
    }

    /// Moves the body from a request's header into its body; nil when the header has no field of this form.
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
                let message = "\(name) has a body, but a \(method) request has none: send it with POST"
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

    /// Throws when the configured name is not a valid field name.
    func check() throws(WaystationError) {
        guard HTTPField.Name(name) == nil else { return }
        throw WaystationError(.invalidHeaderBody, "\(name.quoted()) is not a valid header field name (RFC 9110 §5.1)")
    }
}

extension URLRequest {
    /// The request with this body, without the app's own framing fields: the transport sends the body's real length.
    func carrying(_ body: Data) -> URLRequest {
        var request = framedByTransport
        request.httpBody = body
        return request
    }

    /// The request without the framing fields that the app set for its body.
    ///
    /// Foundation sends a stream chunked, with the app's `Content-Length` beside it: two framings in one message, which
    /// RFC 9112 §6.2 forbids, since servers disagree about where such a message ends.
    var framedByTransport: URLRequest {
        var request = self
        for name in ["Content-Length", "Transfer-Encoding"] { request.setValue(nil, forHTTPHeaderField: name) }
        return request
    }
}
