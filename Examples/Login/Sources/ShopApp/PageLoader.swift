public import Foundation
import FoundationNetworking

/// The other half of the app: loads pages with the files that they need, as a web view would.
///
/// It contains no code for the login, cookies or the cache.
public struct PageLoader: Sendable {
    let shop: URL
    let session: URLSession
    let patience: TimeInterval

    /// The URL of a page of the shop.
    public func url(of path: String) -> URL { URL(string: path, relativeTo: shop)?.absoluteURL ?? shop }

    /// Loads a page of the shop, such as `pages/home`.
    ///
    /// - Throws: The error of loading the page or one of its files.
    public func load(_ path: String) async throws -> Page { try await load(url(of: path)) }

    /// Loads the page of a URL.
    public func load(_ url: URL) async throws -> Page {
        try await load(URLRequest(url: url, timeoutInterval: patience))
    }

    /// Loads several pages at once, and returns them in the order of their URLs.
    public func loadAll(_ urls: [URL]) async throws -> [Page] { try await all(urls) { try await load($0) } }

    /// Sends a form, and loads the page that answers it.
    public func post(_ form: String, to path: String) async throws -> Page {
        var request = URLRequest(url: url(of: path), timeoutInterval: patience)
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(form.utf8)
        return try await load(request)
    }

    private func load(_ request: URLRequest) async throws -> Page {
        let page = try await resource(request)
        let html = String(decoding: page.body, as: UTF8.self)
        let references = PageReferences(html, at: page.url)
        let files = try await all(references.files) {
            try await resource(URLRequest(url: $0, timeoutInterval: patience))
        }
        return Page(resource: page, html: html, links: references.links, files: files)
    }

    /// When one load fails, the others continue to their end.
    ///
    /// A throwing task group would cancel them; a web view also loads the other files of a page.
    private func all<Value: Sendable>(
        _ urls: [URL],
        _ load: @escaping @Sendable (URL) async throws -> Value
    ) async throws -> [Value] {
        let results = await withTaskGroup(of: (Int, Result<Value, any Error>).self) { group in
            for (index, url) in urls.enumerated() {
                group.addTask {
                    do { return (index, .success(try await load(url))) } catch { return (index, .failure(error)) }
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        return try urls.indices.compactMap { try results[$0]?.get() }
    }

    private func resource(_ request: URLRequest) async throws -> Page.Resource {
        let (body, response) = try await session.data(for: request)
        guard let response = response as? HTTPURLResponse, let url = response.url else {
            throw URLError(.badServerResponse)
        }
        let status = response.value(forHTTPHeaderField: "Cache-Status") ?? ""
        return Page.Resource(
            url: url,
            status: response.statusCode,
            // Without a network, a stored response stands in: the request was forwarded, and no status came back.
            isFromCache: status.hasPrefix("Waystation;") && !status.contains("fwd-status="),
            body: body
        )
    }
}
