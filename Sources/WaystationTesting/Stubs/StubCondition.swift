import Foundation

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
