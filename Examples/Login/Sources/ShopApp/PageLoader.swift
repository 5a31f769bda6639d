public import Foundation
import FoundationNetworking

/// The other half of the app: loads pages with what they are shown with, as a web view would.
///
/// It knows of no login, no cookies and no cache.
public struct PageLoader: Sendable {
    let shop: URL
    let session: URLSession
    let patience: TimeInterval

    /// A page's own address.
    public func url(of path: String) -> URL { URL(string: path, relativeTo: shop)?.absoluteURL ?? shop }

    /// Loads a page of the shop, such as `pages/home`.
    ///
    /// - Throws: Whatever the loading system throws, for the page or one of its files.
    public func load(_ path: String) async throws -> Page { try await load(url(of: path)) }

    /// Loads the page of a URL.
    public func load(_ url: URL) async throws -> Page {
        try await load(URLRequest(url: url, timeoutInterval: patience))
    }

    /// Loads several pages at once; they come in the order of their URLs.
    public func loadAll(_ urls: [URL]) async throws -> [Page] { try await all(urls) { try await load($0) } }

    /// Sends a form, and loads the page that answers.
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

    /// Where one fails the others go on to their end: Foundation on Linux may lock up when an `async` load is cancelled in
    /// the moment in which it ends, which a throwing task group would do.
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
            isFromCache: status.hasPrefix("Waystation; hit"),
            body: body
        )
    }
}
