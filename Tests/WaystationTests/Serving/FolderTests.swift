import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTestSupport

@Suite("A folder whose URL lacks its slash")
struct FolderTests {
    private let site: TemporaryDirectory
    private let interceptor: Interceptor

    init() throws {
        let site = try TemporaryDirectory()
        try site.write("<p>manual</p>", to: "index.html")
        try site.write("<p>guide</p>", to: "guide/index.html")
        try site.write("text", to: "bare/a.txt")
        self.site = site
        interceptor = try Interceptor {
            $0.rules = [
                .allow(
                    "https://bare.test/**",
                    via: .files(in: site.url.appending(path: "bare"), at: "https://bare.test/base/", orElse: .nowhere)
                ),
                .allow(
                    "https://shop.test/**",
                    via: .files(in: site.url, at: "https://shop.test/manual", orElse: .nowhere)
                ),
            ]
        }
    }

    @Test(
        "is answered at the URL with the slash, by which the links of its page are resolved",
        arguments: [
            ("/manual", "<p>manual</p>", "/manual/"), ("/manual?a=1", "<p>manual</p>", "/manual/?a=1"),
            ("/manual/guide", "<p>guide</p>", "/manual/guide/"), ("/manual/", "<p>manual</p>", "/manual/"),
        ]
    )
    func url(path: String, text: String, end: String) async throws {
        let session = URLSession(configuration: .default.intercepted(by: interceptor))
        // The second answer may come from memory.
        for _ in 1...2 {
            let (data, response) = try await session.data(
                from: try #require(URL(string: "https://shop.test" + path))
            )
            #expect(String(decoding: data, as: UTF8.self) == text)
            #expect(response.url?.absoluteString == "https://shop.test" + end)
        }
    }

    @Test("redirects as on a web server, which the delegate may refuse", arguments: [true, false])
    func delegate(follows: Bool) async throws {
        let delegate = RecordingDelegate { follows ? $0 : nil }
        let session = URLSession(
            configuration: .default.intercepted(by: interceptor),
            delegate: delegate,
            delegateQueue: nil
        )
        let task = session.dataTask(with: try #require(URL(string: "https://shop.test/manual/guide")))
        task.resume()
        await delegate.completion()
        session.invalidateAndCancel()
        let rest: [RecordingDelegate.Call] = follows ? [.response(200), .data(12)] : [.response(301)]
        #expect(delegate.calls == [.redirect(to: "/manual/guide")] + rest + [.completed(nil)])
    }

    @Test(
        "is not found if it has no index document",
        arguments: ["https://bare.test/base", "https://shop.test/manual/bare"]
    )
    func bare(url: String) async throws {
        let session = URLSession(configuration: .default.intercepted(by: interceptor))
        let url = try #require(URL(string: url))
        let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? WaystationError)?.code == .notFound)
    }
}
