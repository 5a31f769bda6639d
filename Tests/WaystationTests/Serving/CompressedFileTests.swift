import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationPacks
import WaystationTestSupport

@Suite("A file that is stored compressed")
struct CompressedFileTests {
    private static let text = "<svg xmlns='http://www.w3.org/2000/svg'/>"
    private static let gzip = "H4sIAAAAAAACA7MpLktXqMjNySu2Vc8oKSmw0tcvLy/XKzfWyy9K1zcyMDDQB6pQ17cDAAdauVgpAAAA"

    private let folders: TemporaryDirectory
    private let packs: PackLibrary
    private let session: URLSession

    init() async throws {
        let folders = try TemporaryDirectory()
        let packs = try PackLibrary(directory: folders.url.appending(path: "packs"))
        let compressed = try #require(Data(base64Encoded: Self.gzip))
        for folder in ["site", "pack"] {
            try folders.write(compressed, to: folder + "/logo.svgz")
            try folders.write("no gzip", to: folder + "/damaged.SVGZ")
            try folders.write(compressed.dropLast(9), to: folder + "/cut.svgz")
        }
        try await packs.install(
            folder: folders.url.appending(path: "pack"),
            as: PackDescription(
                module: try #require(ModuleID("shop")),
                version: try #require(PackVersion("1.0")),
                baseURLs: ["https://pack.test/", "http://127.0.0.1:9/"]
            )
        )
        let cache = try ResponseCache(directory: folders.url.appending(path: "http"))
        let interceptor = try Interceptor {
            $0.rules = [
                .allow(
                    "https://files.test/**",
                    via: .files(in: folders.url.appending(path: "site"), at: "https://files.test/", orElse: .nowhere)
                ),
                .allow("https://pack.test/**", via: .pack(orElse: .nowhere)),
                .allow("http://127.0.0.1:9/**", via: .pack(overlay: .cacheOnly, orElse: .nowhere)),
            ]
            $0.packs = packs
            $0.cache = cache
        }
        (self.folders, self.packs) = (folders, packs)
        session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
    }

    private func load(
        _ url: String,
        _ fields: [String: String] = [:],
        method: String = "GET"
    ) async throws
        -> (text: String, head: HTTPURLResponse)
    {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        request.allHTTPHeaderFields = fields
        let (data, response) = try await session.data(for: request)
        return (String(decoding: data, as: UTF8.self), try #require(response as? HTTPURLResponse))
    }

    @Test(
        "is delivered decoded, as the network delivers it",
        arguments: ["https://files.test/", "https://pack.test/", "http://127.0.0.1:9/"]
    )
    func decoded(base: String) async throws {
        for _ in 1...2 {
            let (text, head) = try await load(base + "logo.svgz")
            #expect(text == Self.text)
            #expect(head.statusCode == 200)
            #expect(head.value(forHTTPHeaderField: "Content-Type") == "image/svg+xml")
            #expect(head.value(forHTTPHeaderField: "Content-Encoding") == nil)
            #expect(head.value(forHTTPHeaderField: "Content-Length") == "\(Self.text.utf8.count)")
        }
    }

    @Test("is delivered as a whole, because the range of a request is one of the decoded bytes")
    func range() async throws {
        for range in ["bytes=1-2", "bytes=70-"] {
            let (text, head) = try await load("https://files.test/logo.svgz", ["Range": range])
            #expect(text == Self.text)
            #expect(head.statusCode == 200)
            #expect(head.value(forHTTPHeaderField: "Accept-Ranges") == nil)
        }
    }

    @Test("has a validator, and a head without the length of the compressed bytes")
    func head() async throws {
        let (body, head) = try await load("https://files.test/logo.svgz", method: "HEAD")
        #expect(body.isEmpty)
        #expect(head.value(forHTTPHeaderField: "Content-Encoding") == nil)
        #expect(head.value(forHTTPHeaderField: "Content-Length") == nil)
        let tag = try #require(head.value(forHTTPHeaderField: "ETag"))
        #expect(try await load("https://files.test/logo.svgz", ["If-None-Match": tag]).head.statusCode == 304)
    }

    @Test(
        "fails the load if it cannot be decoded",
        arguments: ["https://files.test/damaged.SVGZ", "https://files.test/cut.svgz", "https://pack.test/cut.svgz"]
    )
    func damaged(url: String) async throws {
        let error = await #expect(throws: URLError.self) { try await load(url) }
        #expect(error?.code == .cannotDecodeContentData)
    }
}
