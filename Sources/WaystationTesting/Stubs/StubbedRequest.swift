public import WaystationFoundation
import WaystationHTTP

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

/// A JSON value of any kind, such as the result of a script in a page.
public enum JSONValue: Hashable, Sendable {
    /// `null`, and also `undefined` and everything that is missing.
    case null
    /// A truth value.
    case bool(Bool)
    /// A number.
    case number(Double)
    /// A text.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object.
    case object([String: JSONValue])

    /// The member of an object; `null` if the object has no such member, or if the value is not an object.
    public subscript(name: String) -> JSONValue {
        if case .object(let members) = self { members[name] ?? .null } else { .null }
    }

    /// The element of an array; `null` if the index is outside of the array, or if the value is not an array.
    public subscript(index: Int) -> JSONValue {
        if case .array(let elements) = self, elements.indices.contains(index) { elements[index] } else { .null }
    }

    /// The text; nil for other kinds.
    public var string: String? { if case .string(let text) = self { text } else { nil } }
    /// The number; nil for other kinds.
    public var number: Double? { if case .number(let number) = self { number } else { nil } }
    /// The truth value; nil for other kinds.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The elements of an array; empty for other kinds.
    public var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
}

extension JSONValue: Codable {
    /// Decodes a value of any kind.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // The most frequent kinds come first: each attempt that fails makes an error.
        if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let members = try? container.decode([String: JSONValue].self) {
            self = .object(members)
        } else if let elements = try? container.decode([JSONValue].self) {
            self = .array(elements)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else {
            self = .null
        }
    }

    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let number): try container.encode(number)
        case .string(let text): try container.encode(text)
        case .array(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        }
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByStringLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Makes `null`.
    public init(nilLiteral: ()) { self = .null }
    /// Makes a truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Makes a text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Makes a number.
    public init(integerLiteral value: Int) { self = .number(Double(value)) }
    /// Makes a number.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// Makes an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Makes an object; of two members with one name, the later one counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, later in later })
    }
}
