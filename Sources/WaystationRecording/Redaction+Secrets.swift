import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

extension Redaction {
    /// The values of an exchange that are left out of its recording and that are long enough to be recognised elsewhere.
    package func secrets(of request: URLRequest, _ response: HTTPURLResponse?) -> Set<String> {
        var secrets: Set<String> = []
        for (name, value) in request.allHTTPHeaderFields ?? [:] where hides(field: name) {
            secrets.formUnion(Self.parts(ofCredentials: value))
        }
        for (name, value) in response?.allHeaderFields as? [String: String] ?? [:] where hides(field: name) {
            secrets.formUnion(Self.parts(ofCredentials: String(value.prefix { $0 != ";" })))
        }
        let items = request.url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true)?.queryItems } ?? []
        for item in items where hides(item: item.name) { secrets.insert(item.value ?? "") }
        return secrets.filter { $0.utf8.count >= Self.shortestSecret }
    }

    /// Shorter values occur by chance, too.
    private static var shortestSecret: Int { 8 }

    /// The value without the scheme of credentials (`Bearer`) and the names of cookies.
    private static func parts(ofCredentials value: String) -> [String] {
        value.split { " ;,".contains($0) }.map { part in
            // Base64 may end with `=`.
            let value = part.drop { $0 != "=" }.drop { $0 == "=" }
            return String(value.isEmpty ? part : value)
        }
    }
}
