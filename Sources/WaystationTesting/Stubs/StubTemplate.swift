import Foundation

/// Text with names in braces that stand for values of a request.
enum StubTemplate {
    static func filled(_ template: String, from request: StubbedRequest) throws -> String {
        var result = ""
        var rest = Substring(template)
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            let name = rest[rest.index(after: open)..<close]
            result += rest[..<open]
            // Braces around other text, as in JSON, stand for themselves.
            if let key = Key(name) {
                guard let value = key.value(in: request) else { throw Missing(name: String(name)) }
                result += value
                rest = rest[rest.index(after: close)...]
            } else {
                result += "{"
                rest = rest[rest.index(after: open)...]
            }
        }
        return result + rest
    }

    /// The request lacks a value that a template names.
    struct Missing: Error, CustomStringConvertible {
        let name: String

        var description: String { "the template names {\(name)}, which the request does not have" }
    }

    private enum Key {
        case method
        case url
        case path(Int)
        case query(String)
        case field(String)
        case json(String)

        init?(_ name: Substring) {
            let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
            switch (parts.first, parts.count > 1 ? parts[1] : nil) {
            case ("method", nil): self = .method
            case ("url", nil): self = .url
            case ("path", let index?):
                guard let index = Int(index) else { return nil }
                self = .path(index)
            case ("query", let item?): self = .query(item)
            case ("field", let field?): self = .field(field)
            case ("json", let keyPath?): self = .json(keyPath)
            default: return nil
            }
        }

        func value(in request: StubbedRequest) -> String? {
            switch self {
            case .method: request.method
            case .url: request.url.absoluteString
            case .path(let index):
                request.pathSegments.indices.contains(index) ? request.pathSegments[index] : nil
            case .query(let name): request.query(name)
            case .field(let name): request.field(name)
            case .json(let keyPath): request.json(at: keyPath).map { $0.string ?? $0.text }
            }
        }
    }
}
