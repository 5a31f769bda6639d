public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The head of a response: its URL, its status and its fields.
///
/// It is a value because the interceptor adds fields and asks for some: making an `HTTPURLResponse` takes as long as
/// several other steps of a load, so one is made only when a task gets it.
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
        case .values(_, _, let fields): fields
        }
    }

    /// The value of a field; names are compared without regard to case (RFC 9110 §5.1).
    public func value(forHTTPHeaderField name: String) -> String? {
        switch form {
        case .response(let response): return response.value(forHTTPHeaderField: name)
        case .values(_, _, let fields):
            if let value = fields[name] { return value }
            let count = name.utf8.count
            return fields.first { $0.key.utf8.count == count && $0.key.equalsIgnoringCase(name) }?.value
        }
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
        var fields = fields
        // HTTP/2 has names in lower case.
        if fields[name] == nil, let other = fields.keys.first(where: { $0.equalsIgnoringCase(name) }) {
            fields[other] = nil
        }
        fields[name] = value
        let isSetCookie = name.equalsIgnoringCase("Set-Cookie")
        return ResponseHead(
            url: url,
            statusCode: statusCode,
            fields: fields,
            setCookieFields: isSetCookie ? nil : setCookieFields
        )
    }

    /// The same head with another URL.
    package func with(_ url: URL) -> ResponseHead {
        ResponseHead(url: url, statusCode: statusCode, fields: fields, setCookieFields: setCookieFields)
    }
}

extension String {
    fileprivate func equalsIgnoringCase(_ other: String) -> Bool {
        utf8.elementsEqual(other.utf8) { one, another in
            one == another || ((one | 0x20) == (another | 0x20) && (0x61...0x7a).contains(one | 0x20))
        }
    }
}
