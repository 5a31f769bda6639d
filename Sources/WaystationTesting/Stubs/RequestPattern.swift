public import Foundation

/// The requests that a stub answers: a method, a URL pattern, and conditions on the other parts.
///
/// ```swift
/// Stub(.get("https://api.example/users/*").query("page", "2"), .json(["name": "Ada"]))
/// Stub(.post("https://api.example/orders").json("customer.id", 7), .status(201))
/// ```
///
/// Patterns have the syntax of ``WaystationRules/URLPattern``. A request must meet all conditions.
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
