import Foundation

extension ScriptedOrigin.Request {
    /// The body, decoded from JSON.
    ///
    /// - Throws: `DecodingError` if the body is not JSON of this type, which an empty body never is.
    public func json<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: body)
    }

    /// The decoded value of the first query item with a name; empty if the item has no value, nil without the item.
    public func query(_ name: String) -> String? {
        let items = URLComponents(string: target)?.queryItems
        return items?.first { $0.name == name }.map { $0.value ?? "" }
    }
}

extension ScriptedOrigin.Response {
    /// An answer with a value as JSON, encoded with the members of objects in alphabetical order.
    ///
    /// ```swift
    /// let origin = try ScriptedOrigin { request in
    ///     guard let order = try? request.json(as: Order.self) else { return .status(400) }
    ///     return .json(Receipt(item: order.item), status: 201)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - value: The value. If it cannot be encoded, the answer is 500 with the reason.
    ///   - status: The status code; 200 by default.
    ///   - fields: Fields besides `Content-Type`; none by default.
    /// - Returns: The answer.
    public static func json(
        _ value: some Encodable,
        status: Int = 200,
        fields: KeyValuePairs<String, String> = [:]
    ) -> ScriptedOrigin.Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return json(try encoder.encode(value), status, fields.map { .init($0.key, $0.value) })
        } catch {
            return .status(500, body: Data("the value of the script cannot be encoded: \(error)".utf8))
        }
    }

    private static func json(_ body: Data, _ status: Int, _ fields: [ScriptedOrigin.Field]) -> ScriptedOrigin.Response {
        let type = ScriptedOrigin.Field("Content-Type", "application/json")
        return ScriptedOrigin.Response(
            .message(status: status, fields: [type] + fields, framing: .contentLength, body: [.bytes(body)])
        )
    }
}
