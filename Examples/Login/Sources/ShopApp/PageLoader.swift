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
        let files = try await withThrowingTaskGroup(of: Page.Resource.self) { group in
            for file in references.files {
                group.addTask { try await resource(URLRequest(url: file, timeoutInterval: patience)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        return Page(resource: page, html: html, links: references.links, files: files)
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
