import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationPacks
import WaystationTestSupport

@Suite("A pack")
struct PackServingTests {
    private let folders: TemporaryDirectory
    private let packs: PackLibrary
    private let session: URLSession
    private let interceptor: Interceptor
    private let shop: ModuleID

    init() async throws {
        shop = try #require(ModuleID("shop"))
        let folders = try TemporaryDirectory()
        try folders.write("<!doctype html><title>home</title>", to: "one/index.html")
        try folders.write("let answer = 42", to: "one/js/app.mjs")
        try folders.write("plain", to: "one/data.x")
        try folders.write("<!doctype html><title>next</title>", to: "two/index.html")
        self.folders = folders
        let packs = try PackLibrary(directory: folders.url.appending(path: "packs"))
        self.packs = packs
        interceptor = try Interceptor {
            $0.rules = [.allow("https://shop.test/**", via: .pack(orElse: .nowhere))]
            $0.packs = packs
        }
        session = URLSession(configuration: .default.intercepted(by: interceptor))
        try await install("one", version: "1.0")
    }

    private func install(_ folder: String, version: String) async throws {
        try await packs.install(
            folder: folders.url.appending(path: folder),
            as: PackDescription(
                module: shop,
                version: try #require(PackVersion(version)),
                baseURLs: ["https://shop.test/app/", "https://shop.test/beta/"],
                released: Date(timeIntervalSince1970: 1_772_366_400),
                mediaTypes: ["data.x": "application/x-thing"]
            )
        )
    }

    private func load(
        _ path: String,
        _ fields: [String: String] = [:],
        method: String = "GET"
    ) async throws
        -> (text: String, head: HTTPURLResponse)
    {
        var request = URLRequest(url: try #require(URL(string: "https://shop.test" + path)))
        request.httpMethod = method
        request.allHTTPHeaderFields = fields
        let (data, response) = try await session.data(for: request)
        return (String(decoding: data, as: UTF8.self), try #require(response as? HTTPURLResponse))
    }

    @Test("serves a file with its type, its release time, a validator and Cache-Status", arguments: [1, 2])
    func fields(_ time: Int) async throws {
        for _ in 0..<time {
            let (text, head) = try await load("/app/js/app.mjs?v=7")
            #expect(text == "let answer = 42")
            #expect(head.statusCode == 200)
            #expect(head.value(forHTTPHeaderField: "Content-Type") == "text/javascript; charset=utf-8")
            #expect(head.value(forHTTPHeaderField: "Last-Modified") == "Sun, 01 Mar 2026 12:00:00 GMT")
            #expect(head.value(forHTTPHeaderField: "ETag") != nil)
            #expect(head.value(forHTTPHeaderField: "Cache-Status") == "Waystation; hit; detail=pack")
        }
    }

    @Test("does not serve a blocked file in another spelling of its URL", arguments: ["@admin", "%40admin"])
    func blocked(folder: String) async throws {
        try folders.write("secret", to: "one/@admin/a.js")
        try folders.write("open", to: "one/@scope/a.js")
        try await install("one", version: "1.1")
        let interceptor = try Interceptor {
            $0.rules = [
                .block("https://shop.test/app/@admin/**"), .allow("https://shop.test/**", via: .pack(orElse: .nowhere)),
            ]
            $0.packs = packs
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        let url = try #require(URL(string: "https://shop.test/app/\(folder)/a.js"))
        let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? WaystationError)?.code == .blocked)
        let open = try #require(URL(string: "https://shop.test/app/%40scope/a.js"))
        #expect(String(decoding: try await session.data(from: open).0, as: UTF8.self) == "open")
    }

    @Test("answers each base URL, a folder and a folder without its slash")
    func urls() async throws {
        try folders.write("<title>js</title>", to: "one/js/index.html")
        try await install("one", version: "1.1")
        #expect(try await load("/app/").text == "<!doctype html><title>home</title>")
        #expect(try await load("/beta/index.html").text == "<!doctype html><title>home</title>")
        let (text, head) = try await load("/app/js")
        #expect(text == "<title>js</title>")
        #expect(head.url?.absoluteString == "https://shop.test/app/js/")
    }

    @Test("answers a base URL without its slash at the one with it", arguments: ["/app", "/beta", "/app?v=1"])
    func bareBase(path: String) async throws {
        let (text, head) = try await load(path)
        #expect(text == "<!doctype html><title>home</title>")
        let end = path.replacing("/app?v=1", with: "/app/?v=1")
        #expect(head.url?.absoluteString == "https://shop.test" + (end == path ? path + "/" : end))
        #expect(head.value(forHTTPHeaderField: "Cache-Status") == "Waystation; hit; detail=pack")
        #expect(packs.module(shop)?.active?.isDamaged == false)
    }

    @Test("uses the manifest's media type before the one of the file name")
    func mediaType() async throws {
        let head = try await load("/app/data.x").head
        #expect(head.value(forHTTPHeaderField: "Content-Type") == "application/x-thing")
    }

    @Test("answers ranges, preconditions and HEAD as a web server does")
    func httpFeatures() async throws {
        let (part, partial) = try await load("/app/js/app.mjs", ["Range": "bytes=4-9"])
        #expect(partial.statusCode == 206)
        #expect(part == "answer")
        let tag = try #require(partial.value(forHTTPHeaderField: "ETag"))
        #expect(try await load("/app/js/app.mjs", ["If-None-Match": tag]).head.statusCode == 304)
        let (body, head) = try await load("/app/js/app.mjs", method: "HEAD")
        #expect(body.isEmpty)
        #expect(head.value(forHTTPHeaderField: "Content-Length") == "15")
    }

    @Test("serves a new version from its activation until a roll-back")
    func versions() async throws {
        try await install("two", version: "2.0")
        #expect(try await load("/app/").text.contains("next"))
        await #expect(throws: URLError.self) { try await load("/app/js/app.mjs") }
        try await packs.rollBack(shop, reason: "a test")
        #expect(try await load("/app/").text.contains("home"))
        try await packs.setEnabled(false, shop)
        await #expect(throws: URLError.self) { try await load("/app/") }
    }

    @Test("reports a file that was damaged on disk, does not serve it, and serves the other files")
    func damage() async throws {
        let events = interceptor.events
        let root = try #require(packs.module(shop)?.active?.root)
        try Data("let answer = 43".utf8).write(to: root.appending(path: "js/app.mjs"))
        await #expect(throws: URLError.self) { try await load("/app/js/app.mjs") }
        #expect(try await load("/app/").text.contains("home"))
        for await event in events {
            if case .source(let event as PackEvent) = event.kind, event.kind == .damaged {
                #expect(event.detail.contains("js/app.mjs"))
                break
            }
        }
        #expect(packs.module(shop)?.active?.isDamaged == true)
    }

    @Test(
        "leaves a file that is missing or was replaced by a link to the next source, and reports it once",
        arguments: ["missing", "link"]
    )
    func lost(_ way: String) async throws {
        let events = interceptor.events
        let file = try #require(packs.module(shop)?.active?.root.appending(path: "js/app.mjs"))
        try FileManager.default.removeItem(at: file)
        if way == "link" {
            try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "/etc/hostname")
        }
        for _ in 0..<3 { await #expect(throws: URLError.self) { try await load("/app/js/app.mjs") } }
        #expect(try await load("/app/").text.contains("home"))
        // The library records the damage on another queue than the loading queue.
        #expect(await eventually { packs.condition.contains { $0.kind == .damaged } })
        try await packs.setEnabled(false, shop)
        var damages = 0
        for await event in events {
            guard case .source(let event as PackEvent) = event.kind else { continue }
            if event.kind == .damaged { damages += 1 }
            if event.kind == .disabled { break }
        }
        #expect(damages == 1)
    }

    @Test("in a rule is refused when there is no library")
    func missingLibrary() throws {
        let error = #expect(throws: WaystationError.self) {
            try Interceptor { $0.rules = [.allow("https://shop.test/**", via: .pack)] }
        }
        #expect(error?.code == .missingPacks)
    }
}
