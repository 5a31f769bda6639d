public import Foundation

/// The requests that a stub answers: a method, a URL pattern, and conditions on the other parts.
///
/// ```swift
/// Stub(.get("https://api.example/users/*").query("page", "2"), .json(["name": "Ada"]))
/// Stub(.post("https://api.example/orders").json("customer.id", 7), .status(201))
/// ```
///
/// Patterns have the syntax of ``WaystationHTTP/URLPattern``. A request must meet all conditions.
public struct RequestPattern: Sendable {
    /// Nil for every method.
    let method: String?
    let url: String
    private(set) var conditions: [StubCondition] = []

    private init(_ method: String?, _ url: String) {
        self.method = method
        self.url = url
    }

    /// Requests with any method.
    public static func any(_ url: String) -> RequestPattern { RequestPattern(nil, url) }
    /// Requests with this method.
    public static func method(_ method: String, _ url: String) -> RequestPattern { RequestPattern(method, url) }
    /// GET requests.
    public static func get(_ url: String) -> RequestPattern { RequestPattern("GET", url) }
    /// HEAD requests.
    public static func head(_ url: String) -> RequestPattern { RequestPattern("HEAD", url) }
    /// POST requests.
    public static func post(_ url: String) -> RequestPattern { RequestPattern("POST", url) }
    /// PUT requests.
    public static func put(_ url: String) -> RequestPattern { RequestPattern("PUT", url) }
    /// PATCH requests.
    public static func patch(_ url: String) -> RequestPattern { RequestPattern("PATCH", url) }
    /// DELETE requests.
    public static func delete(_ url: String) -> RequestPattern { RequestPattern("DELETE", url) }

    /// Adds the condition that the URL has a query item with this decoded value.
    public func query(_ name: String, _ value: String) -> RequestPattern { adding(.query(name, value)) }

    /// Adds the condition that a header field has this value.
    public func field(_ name: String, _ value: String) -> RequestPattern { adding(.field(name, value)) }

    /// Adds the condition that the body has exactly these bytes.
    public func body(_ bytes: Data) -> RequestPattern { adding(.body(bytes)) }

    /// Adds the condition that the body is exactly this text in UTF-8.
    public func body(_ text: String) -> RequestPattern { body(Data(text.utf8)) }

    /// Adds the condition that the body is JSON with an equal value at a key path.
    ///
    /// - Parameters:
    ///   - keyPath: The names of members and the indices of elements, separated by dots, such as `customer.emails.0`.
    ///     An empty path means the whole body.
    ///   - value: The value, compared as JSON: the order of members and the form of numbers do not matter.
    /// - Returns: The pattern with the condition.
    public func json(_ keyPath: String, _ value: some Encodable & Sendable) -> RequestPattern {
        adding(.json(keyPath, value))
    }

    /// Adds the condition that the body is a form (`application/x-www-form-urlencoded`) with an item of this value.
    public func form(_ name: String, _ value: String) -> RequestPattern { adding(.form(name, value)) }

    /// Adds a condition in code.
    ///
    /// - Parameters:
    ///   - explanation: The reason that messages give when the condition is not met, such as `the signature is wrong`.
    ///   - condition: Returns whether the request meets the condition; called on any thread, also for a request that
    ///     an earlier stub answers. It may ask the stubs, as for `calls`.
    /// - Returns: The pattern with the condition.
    public func `where`(
        otherwise explanation: String,
        _ condition: @escaping @Sendable (StubbedRequest) -> Bool
    ) -> RequestPattern {
        adding(StubCondition(mismatch: { condition($0) ? nil : explanation }, callsTest: true))
    }

    private func adding(_ condition: StubCondition) -> RequestPattern {
        var pattern = self
        pattern.conditions.append(condition)
        return pattern
    }
}

extension RequestPattern: CustomStringConvertible {
    /// The method and the pattern.
    public var description: String { "\(method ?? "any method") \(url)" }
}

/// A condition on a request beside its method and URL.
struct StubCondition: Sendable {
    /// Returns the reason why a request does not meet the condition; nil if it meets it.
    let mismatch: @Sendable (StubbedRequest) -> String?
    /// Whether ``mismatch`` calls code of the test.
    var callsTest = false
}

extension StubCondition {
    static func query(_ name: String, _ expected: String) -> StubCondition {
        StubCondition { request in
            request.query(name).mismatch(with: expected, of: "query item \(name)")
        }
    }

    static func field(_ name: String, _ expected: String) -> StubCondition {
        StubCondition { request in
            request.field(name).mismatch(with: expected, of: "field \(name)")
        }
    }

    static func body(_ expected: Data) -> StubCondition {
        StubCondition { request in
            guard request.body != expected else { return nil }
            guard let text = String(validating: expected, as: UTF8.self),
                let found = String(validating: request.body, as: UTF8.self)
            else { return "body has \(request.body.count) bytes that differ from the \(expected.count) expected bytes" }
            return "body is \(found.shortened), not \(text.shortened)"
        }
    }

    static func json(_ keyPath: String, _ value: some Encodable & Sendable) -> StubCondition {
        let expected = Result { try JSONValue(encoding: value) }
        let name = keyPath.isEmpty ? "JSON body" : "JSON at \(keyPath)"
        return StubCondition { request in
            guard case .success(let expected) = expected else {
                return "the value expected as \(name) cannot be encoded as JSON"
            }
            guard let found = request.json(at: keyPath) else {
                return request.json(at: "") == nil ? "body is not JSON" : "\(name) is missing"
            }
            return found == expected ? nil : "\(name) is \(found.text.shortened), not \(expected.text.shortened)"
        }
    }

    static func form(_ name: String, _ expected: String) -> StubCondition {
        StubCondition { request in
            request.form(name).mismatch(with: expected, of: "form item \(name)")
        }
    }
}

extension String? {
    fileprivate func mismatch(with expected: String, of part: String) -> String? {
        guard let self else { return "\(part) is missing" }
        return self == expected ? nil : "\(part) is \(self.shortened), not \(expected.shortened)"
    }
}

extension String {
    /// The text in quotation marks, cut after 60 characters.
    var shortened: String { count > 60 ? "`\(prefix(60))…`" : "`\(self)`" }
}

extension JSONValue {
    fileprivate init(encoding value: some Encodable) throws {
        self = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
    }

    /// The value as JSON, with the members of objects in alphabetical order.
    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }
}
