public import WaystationFoundation
import WaystationHTTP

/// The head of a response: its URL, its status and its fields.
///
/// It is a value because the interceptor adds fields and asks for some: making an `HTTPURLResponse` takes as long as
/// several other steps of a load, so one is made only when a task gets it.
///
/// The bytes of a value are opaque (RFC 9110 §5.5). A value in UTF-8 is the text that it spells; of any other value,
/// each byte is the character of ISO 8859-1. Waystation keeps the bytes of such a value beside that text, so that it
/// stores and sends back what came.
public struct ResponseHead: Sendable {
    private enum Form: Sendable {
        case response(HTTPURLResponse)
        case values(url: URL, statusCode: Int, fields: [String: String])
    }

    private var form: Form
    /// The values of the `Set-Cookie` fields, in their order; nil if only their joined value is known.
    ///
    /// A cookie may contain a comma, so the joined value does not always show where a cookie ends.
    package private(set) var setCookieFields: [String]?
    /// Whether the body may be cut without an error if no field says where it ends.
    ///
    /// Foundation reports none for an HTTP/2 stream that its server resets with NO_ERROR, nor for a TLS connection that
    /// ends without close_notify.
    package var hidesCuts = false

    /// Makes a head of a response of Foundation's.
    public init(_ response: HTTPURLResponse) { form = .response(response) }

    /// Makes a head of its parts.
    ///
    /// - Parameters:
    ///   - url: The URL of the request.
    ///   - statusCode: The status, from 100 to 999.
    ///   - fields: One value for each name, as in `HTTPURLResponse`: the values of a repeated field are joined by a comma
    ///     and a space (RFC 9110 §5.3). The spellings of two names differ in more than their case.
    public init(url: URL, statusCode: Int, fields: [String: String]) {
        form = .values(url: url, statusCode: statusCode, fields: fields)
    }

    /// Makes a head of its parts, with each `Set-Cookie` field as it arrived.
    package init(url: URL, statusCode: Int, fields: [String: String], setCookieFields: [String]?) {
        self.init(url: url, statusCode: statusCode, fields: fields)
        self.setCookieFields = setCookieFields
    }

    /// The URL of the request.
    public var url: URL? {
        switch form {
        case .response(let response): response.url
        case .values(let url, _, _): url
        }
    }

    /// The status.
    public var statusCode: Int {
        switch form {
        case .response(let response): response.statusCode
        case .values(_, let statusCode, _): statusCode
        }
    }

    /// The fields, by name.
    public var fields: [String: String] {
        switch form {
        case .response(let response): KnownResponses.shared.fields(of: response)
        case .values(_, _, let fields): fields.shown
        }
    }

    /// The fields, by name, with the bytes of their values as ``FieldText`` holds them.
    package var rawFields: [String: String] {
        switch form {
        case .response(let response): (response as? RawFieldsResponse)?.rawFields ?? fields
        case .values(_, _, let fields): fields
        }
    }

    /// The value of a field; names are compared without regard to case (RFC 9110 §5.1).
    public func value(forHTTPHeaderField name: String) -> String? {
        switch form {
        case .response(let response): response.value(forHTTPHeaderField: name)
        case .values: rawValue(forHTTPHeaderField: name).map(FieldText.shown)
        }
    }

    /// The value of a field, with its bytes as ``FieldText`` holds them.
    package func rawValue(forHTTPHeaderField name: String) -> String? {
        let fields: [String: String]
        switch form {
        case .response(let response):
            guard let raw = (response as? RawFieldsResponse)?.rawFields else {
                return response.value(forHTTPHeaderField: name)
            }
            fields = raw
        case .values(_, _, let values): fields = values
        }
        if let value = fields[name] { return value }
        return fields.first { $0.key.equalsIgnoringCase(name) }?.value
    }

    /// The head as Foundation has it; nil if Foundation makes none of these values.
    ///
    /// If the head was made of its parts, each call makes another object.
    public var response: HTTPURLResponse? {
        switch form {
        case .response(let response): response
        case .values(let url, let statusCode, let fields):
            KnownResponses.shared.response(url, statusCode, fields)
        }
    }

    /// The response of Foundation's that the head was made of; nil if it was made of its parts.
    package var origin: HTTPURLResponse? {
        guard case .response(let response) = form else { return nil }
        return response
    }

    /// The same head with another value of a field, whatever the case of its name was.
    package func setting(_ name: String, to value: String) -> ResponseHead {
        guard let url else { return self }
        var fields = rawFields
        // HTTP/2 has names in lower case.
        if fields[name] == nil, let other = fields.keys.first(where: { $0.equalsIgnoringCase(name) }) {
            fields[other] = nil
        }
        fields[name] = value
        let isSetCookie = name.equalsIgnoringCase("Set-Cookie")
        return replacing(url, fields, isSetCookie ? nil : setCookieFields)
    }

    /// The same head with another URL.
    package func with(_ url: URL) -> ResponseHead { replacing(url, rawFields, setCookieFields) }

    private func replacing(_ url: URL, _ fields: [String: String], _ setCookies: [String]?) -> ResponseHead {
        var head = ResponseHead(url: url, statusCode: statusCode, fields: fields, setCookieFields: setCookies)
        head.hidesCuts = hidesCuts
        return head
    }
}
