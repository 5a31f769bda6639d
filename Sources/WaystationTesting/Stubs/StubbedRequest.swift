public import Foundation
import WaystationFields
import WaystationRules

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A request as a stub gets it: as it was sent, with its whole body.
public struct StubbedRequest: Sendable {
    /// The request, as Foundation has it; its body may be a stream that was already read.
    public let request: URLRequest
    /// The body; empty if the request has no body.
    ///
    /// Bodies from `Data`, from streams and of uploads look the same.
    public let body: Data

    /// The method and the canonical URL, which are compared with all stubs; nil if the URL is not absolute.
    let ruleRequest: RuleRequest?

    init(_ request: URLRequest) {
        self.request = request
        ruleRequest = CanonicalURL(request.url?.absoluteString ?? "").map {
            RuleRequest(url: $0, method: request.httpMethod ?? "GET")
        }
        body = request.httpBody ?? request.httpBodyStream.map { Data(reading: $0) } ?? Data()
    }

    /// The method; `GET` if the request has none of its own.
    public var method: String { request.httpMethod ?? "GET" }

    /// The absolute URL.
    public var url: URL { request.url ?? URL(fileURLWithPath: "/") }

    /// The segments of the URL's path, decoded: `["users", "7"]` for `/users/7`.
    public var pathSegments: [String] { url.pathComponents.filter { $0 != "/" } }

    /// The body as UTF-8 text; invalid bytes become U+FFFD.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The value of a header field; names are compared without regard to case (RFC 9110 §5.1).
    public func field(_ name: String) -> String? { request.value(forHTTPHeaderField: name) }

    /// The decoded value of the first query item with a name; empty if the item has no value, nil without the item.
    public func query(_ name: String) -> String? {
        let items = URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems
        return items?.first { $0.name == name }.map { $0.value ?? "" }
    }

    /// The decoded value of the first form item with a name; empty if the item has no value, nil without the item.
    ///
    /// The body may be anything, such as JSON: URLComponents would end the process for a query that is not encoded.
    func form(_ name: String) -> String? {
        let items = text.split(separator: "&").map {
            $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        }
        return items.first { $0.first?.formDecoded == name }.map { $0.dropFirst().first?.formDecoded ?? "" }
    }

    /// The body, decoded from JSON.
    ///
    /// - Throws: `DecodingError` if the body is not JSON of this type.
    public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: body)
    }

    /// The JSON value at a key path such as `customer.emails.0`; nil if the body is not JSON or has no such value.
    func json(at keyPath: String) -> JSONValue? {
        guard let whole = try? JSONDecoder().decode(JSONValue.self, from: body) else { return nil }
        return keyPath.split(separator: ".").reduce(whole) { value, key in
            switch value {
            case .object(let members)?: members[String(key)]
            case .array(let elements)?: Int(key).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
            default: nil
            }
        }
    }
}

extension StubbedRequest: CustomStringConvertible {
    /// The method and the URL, without the secrets of the URL.
    public var description: String { "\(method) \(SecretNames.standard.url(url.absoluteString))" }
}

extension Substring {
    /// The text of a form's name or value; as it stands if it is not encoded correctly.
    fileprivate var formDecoded: String {
        let spaced = replacing("+", with: " ")
        return spaced.removingPercentEncoding ?? String(spaced)
    }
}

extension Data {
    /// Reads a stream to its end; an error ends it, too.
    fileprivate init(reading stream: InputStream) {
        self.init()
        stream.open()
        defer { stream.close() }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = stream.read(&buffer, maxLength: buffer.count), count > 0 {
            append(contentsOf: buffer[..<count])
        }
    }
}
