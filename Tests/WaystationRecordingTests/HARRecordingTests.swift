import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationProcesses
import WaystationRecording
import WaystationStorage
import WaystationTesting

@Suite("A session recorded as HAR")
struct HARRecordingTests {
    private let place: Workplace
    private let site: Site
    private let recorder = HARRecorder()

    init() throws {
        place = try Workplace()
        site = try Site(place)
    }

    /// A session that reports to the recorder.
    private func session(_ recorder: HARRecorder? = nil, _ rules: [Rule]? = nil) throws -> URLSession {
        let interceptor = try Interceptor {
            $0.rules = rules ?? [.allow("http://127.0.0.1:*/**", via: .cache(.standard))]
            $0.cache = try place.cache()
            $0.recorder = recorder ?? self.recorder
        }
        return URLSession(configuration: .ephemeral.intercepted(by: interceptor))
    }

    @Test("loads offline byte for byte from another cache")
    func offline() async throws {
        let session = try session()
        for page in Site.pages { _ = try await session.data(from: site.origin.url(page.path)) }
        let file = place.file("session.har")
        try recorder.write(to: file)
        site.origin.stop()
        let cache = try place.cache()
        let report = try await cache.importRecording(at: file)
        #expect(report.skipped.isEmpty)
        try await site.expectPages(in: cache)
    }

    @Test("has no fields that only the engine has sent, and imports the rule of No-Vary-Search")
    func fieldsOfTheEngine() async throws {
        let origin = try ScriptedOrigin { _ in
            .ok("a", fields: ["Cache-Control": "max-age=60", "Vary": "User-Agent", "No-Vary-Search": "params"])
        }
        let session = try session(nil, [.allow("http://127.0.0.1:*/**", via: .network)])
        _ = try await session.data(from: origin.url("/?a=1"))
        #expect(origin.requests.first?.value(of: "User-Agent") != nil)
        let file = place.file("session.har")
        try recorder.write(to: file)
        origin.stop()
        let cache = try place.cache()
        #expect(try await cache.importRecording(at: file).imported.count == 1)
        let offline = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.cacheOnly))]
            $0.cache = cache
        }
        let (body, _) = try await offline.client().data(for: URLRequest(url: origin.url("/?a=2")))
        #expect(body == Data("a".utf8))
    }

    @Test("an export has the query of a response with No-Vary-Search, and no response with a key of the app's own")
    func exportedKeys() async throws {
        let origin = try ScriptedOrigin { request in
            .ok(request.target, fields: ["Cache-Control": "max-age=60", "No-Vary-Search": "params=(\"a\")"])
        }
        let cache = try place.cache()
        let interceptor = try Interceptor {
            let key = CacheKey.own { $0.value(forHTTPHeaderField: "X-Tenant") }
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.standard, key: key))]
            $0.cache = cache
        }
        let client = interceptor.client()
        _ = try await client.data(for: URLRequest(url: origin.url("/?a=1&b=1")))
        var request = URLRequest(url: origin.url("/own"))
        request.setValue("a", forHTTPHeaderField: "X-Tenant")
        _ = try await client.data(for: request)
        await cache.flush()
        let file = place.file("export.har")
        #expect(try StoreInspector(directory: cache.directory).export(to: file, as: .har) == 1)
        origin.stop()
        let other = try place.cache()
        #expect(try await other.importRecording(at: file).imported.count == 1)
        let offline = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.cacheOnly))]
            $0.cache = other
        }
        let (body, _) = try await offline.client().data(for: URLRequest(url: origin.url("/?b=1&a=2")))
        #expect(body == Data("/?a=1&b=1".utf8))
        await #expect(throws: URLError.self) {
            _ = try await offline.client().data(for: URLRequest(url: origin.url("/?a=1")))
        }
    }

    @Test("an export has parts that together are whole as one response, and other parts as they are")
    func exportedParts() async throws {
        let body = Data((0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let origin = try ScriptedOrigin { request in
            let ends = request.value(of: "Range")?.dropFirst("bytes=".count).split(separator: "-").compactMap {
                Int($0)
            }
            guard let first = ends?.first, let last = ends?.last else { return .ok(body) }
            return .status(
                206,
                fields: [
                    "Content-Range": "bytes \(first)-\(last)/1000", "ETag": "\"1\"", "Cache-Control": "max-age=60",
                    "Content-Type": "video/mp4",
                ],
                body: body[first...last]
            )
        }
        let cache = try place.cache()
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.standard))]
            $0.cache = cache
        }
        let client = interceptor.client()
        for (path, range) in [("/whole", "0-499"), ("/whole", "400-999"), ("/part", "0-99")] {
            var request = URLRequest(url: origin.url(path))
            request.setValue("bytes=\(range)", forHTTPHeaderField: "Range")
            _ = try await client.data(for: request)
        }
        await cache.flush()
        let file = place.file("parts.har")
        #expect(try StoreInspector(directory: cache.directory).export(to: file, as: .har) == 2)
        origin.stop()
        let entries = try HARArchive(contentsOf: file).entries
        let whole = try #require(entries.first { $0.request.url.hasSuffix("/whole") })
        #expect(whole.response.status == 200)
        #expect(whole.response.content.size == 1_000)
        #expect(!whole.response.headers.contains { $0.name == "Content-Range" })
        let part = try #require(entries.first { $0.request.url.hasSuffix("/part") })
        #expect(part.response.status == 206)
        #expect(part.request.headers.contains { $0.name.lowercased() == "range" && $0.value == "bytes=0-99" })

        let other = try place.cache()
        #expect(try await other.importRecording(at: file).imported.map(\.bytes).sorted() == [100, 1_000])
        let offline = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.cacheOnly))]
            $0.cache = other
        }
        #expect(try await offline.client().data(for: URLRequest(url: origin.url("/whole"))).0 == body)
        var request = URLRequest(url: origin.url("/part"))
        request.setValue("bytes=10-19", forHTTPHeaderField: "Range")
        #expect(try await offline.client().data(for: request).0 == body[10...19])
    }

    @Test("states the source of each answer, whichever way the app receives it")
    func sources() async throws {
        let folder = place.file("files")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(Site.home.utf8).write(to: folder.appending(path: "index.html"))
        try Site.image.write(to: folder.appending(path: "image.png"))
        let base = "http://127.0.0.1:\(site.origin.port)"
        let session = try session(
            nil,
            [
                .allow("\(base)/files/**", via: .files(in: folder, at: "\(base)/files/")),
                .block("\(base)/ads/**"),
                .allow("\(base)/empty", via: .network),
                .allow("\(base)/**", via: .cache(.standard)),
            ]
        )
        for path in ["/files/index.html", "/files/image.png", "/image.png", "/image.png", "/empty"] {
            _ = try await session.data(from: site.origin.url(path))
        }
        await #expect(throws: URLError.self) { try await session.data(from: site.origin.url("/ads/1")) }
        // A delegate receives pieces, and a completion handler one body.
        let collector = Collector()
        let configuration = session.configuration
        let streaming = URLSession(configuration: configuration, delegate: collector, delegateQueue: nil)
        await withCheckedContinuation { continuation in
            collector.finished = { continuation.resume() }
            streaming.dataTask(with: site.origin.url("/files/image.png")).resume()
        }
        #expect(collector.data == Site.image)
        let entries = recorder.archive().entries
        #expect(
            entries.map { "\($0.request.url.dropFirst(base.count)) \($0.response.status) \($0.source ?? "-")" } == [
                "/files/index.html 200 files", "/files/image.png 200 files", "/image.png 200 network",
                "/image.png 200 cache", "/empty 200 network", "/ads/1 0 -", "/files/image.png 200 files",
            ]
        )
        for entry in entries where entry.request.url.hasSuffix("image.png") {
            #expect(entry.response.content.encoding == "base64")
            #expect(entry.response.content.text.flatMap { Data(base64Encoded: $0) } == Site.image)
        }
        #expect(entries[0].response.content.text == Site.home)
        #expect(entries[5].comment == "failed: URLError \(URLError.Code.resourceUnavailable.rawValue)")
    }

    @Test("has the body of a load that was handed back to Foundation, whichever way the app receives it")
    func handedBack() async throws {
        let session = try session(nil, [.allow("http://127.0.0.1:*/**", via: .network)])
        for path in ["/image.png", "/", "/gone", "/empty"] {
            let (data, _) = try await session.data(from: site.origin.url(path))
            let content = try #require(recorder.archive().entries.last?.response.content)
            let kept =
                content.encoding == "base64"
                ? content.text.flatMap { Data(base64Encoded: $0) } : content.text.map { Data($0.utf8) }
            #expect(kept == data, "\(path)")
            #expect(!content.isTruncated, "\(path)")
        }
    }

    @Test("has the redirects and the request bodies")
    func requests() async throws {
        let session = try session()
        _ = try await session.data(from: site.origin.url("/moved"))
        var request = URLRequest(url: site.origin.url("/echo?a=b%20c&d"))
        request.httpMethod = "POST"
        request.httpBody = Data(#"{"name":"größe"}"#.utf8)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        _ = try await session.data(for: request)
        let entries = recorder.archive().entries
        try #require(entries.count == 3)
        #expect(entries[0].response.status == 301)
        #expect(entries[0].response.redirectURL == "/image.png")
        #expect(entries[1].request.url == site.origin.url("/image.png").absoluteString)
        #expect(entries[1].response.content.size == Site.image.count)
        #expect(entries[2].request.method == "POST")
        #expect(entries[2].request.postData?.text == #"{"name":"größe"}"#)
        #expect(entries[2].request.queryString == [.init("a", "b c"), .init("d", "")])
        #expect(entries[2].response.content.text == #"{"name":"größe"}"#)
    }

    @Test("can be read by Python's json, and has every member that HAR 1.2 requires")
    func python() async throws {
        let session = try session()
        for page in Site.pages { _ = try await session.data(from: site.origin.url(page.path)) }
        let file = place.file("session.har")
        try recorder.write(to: file)
        let script = """
            import base64, datetime, hashlib, json, sys
            log = json.load(open(sys.argv[1], encoding="utf-8"))["log"]
            assert log["version"] == "1.2", log["version"]
            assert log["creator"]["name"] == "Waystation" and log["creator"]["version"]
            for e in log["entries"]:
                assert datetime.datetime.fromisoformat(e["startedDateTime"].replace("Z", "+00:00")).tzinfo
                assert len(e["startedDateTime"]) == len("2026-01-01T00:00:00.000Z"), e["startedDateTime"]
                assert e["time"] >= 0 and e["cache"] == {}
                assert set(e["timings"]) == {"blocked", "dns", "connect", "ssl", "send", "wait", "receive"}
                assert all(e["timings"][n] == -1 for n in ("blocked", "dns", "connect", "ssl"))
                parts = sum(e["timings"][n] for n in ("send", "wait", "receive"))
                assert abs(parts - e["time"]) < 0.001, (parts, e["time"])
                q, r = e["request"], e["response"]
                for n in ("method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"):
                    assert n in q, n
                for n in ("status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL",
                          "headersSize", "bodySize"):
                    assert n in r, n
                c = r["content"]
                b = base64.b64decode(c["text"]) if c.get("encoding") == "base64" else c.get("text", "").encode()
                if r["status"] == 200:
                    assert len(b) == c["size"], (q["url"], len(b), c["size"])
                    print(q["url"].split("/", 3)[3], hashlib.sha256(b).hexdigest()[:8], c.get("encoding", "text"))
            """
        let outcome = try SpawnedProcess.run("/usr/bin/python3", ["-c", script, file.path])
        #expect(outcome.ending == .exited(0), "\(String(decoding: outcome.errors, as: UTF8.self))")
        let lines = String(decoding: outcome.output, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 6)
        #expect(lines.filter { $0.hasPrefix("image.png") && $0.hasSuffix("base64") }.count == 2)
    }

    @Test("is not written to a URL that is no file URL, and the error names the URL")
    func notAFile() throws {
        let path = place.folder.appending(path: "page.har").path
        let url = try #require(URL(string: "https://har.example\(path)?token=secret"))
        let error = #expect(throws: RecordingError.self) { try HARRecorder().write(to: url) }
        #expect(error?.code == .unwritable)
        #expect(error?.message == "https://har.example\(path) is not a file URL: give it as URL(filePath:)")
        let made = try FileManager.default.contentsOfDirectory(atPath: place.folder.path)
        #expect(!made.contains { $0.contains("page.har") })
    }

    @Test("cuts and marks a body beyond the limit, which is not imported")
    func cut() async throws {
        let small = HARRecorder(maximumBodySize: .bytes(1_000))
        _ = try await session(small).data(from: site.origin.url("/image.png"))
        let archive = small.archive()
        let content = try #require(archive.entries.first?.response.content)
        #expect(content.size == Site.image.count)
        #expect(content.text.flatMap { Data(base64Encoded: $0) } == Site.image.prefix(1_000))
        #expect(content.isTruncated)
        #expect(content.comment == "1000 of 300000 bytes were kept")
        let file = place.file("cut.har")
        try small.write(to: file)
        #expect(try String(contentsOf: file, encoding: .utf8).contains(#""_truncated":true"#))
        let report = try await place.cache().importRecording(at: file)
        #expect(report.reasons == ["/image.png": "incomplete"])
    }

    @Test("keeps exchanges beyond the total limit without their bodies, and marks them")
    func total() async throws {
        let small = HARRecorder(maximumTotalSize: .bytes(400_000))
        let session = try session(small)
        for path in ["/image.png", "/image.png?2"] { _ = try await session.data(from: site.origin.url(path)) }
        let contents = small.archive().entries.map(\.response.content)
        #expect(contents.map(\.isTruncated) == [false, true])
        #expect(contents[1].text == nil)
        #expect(contents[1].size == Site.image.count)
    }

    @Test("marks a load that fails midway, and has no entry for a cancelled one")
    func failures() async throws {
        let origin = try ScriptedOrigin { request in
            request.path == "/cut"
                ? .truncated(Site.image, after: 5_000, fields: ["Content-Type": "image/png"]) : .unanswered
        }
        let session = try session()
        await #expect(throws: URLError.self) { try await session.data(from: origin.url("/cut")) }
        let waiting = Task { try await session.data(from: origin.url("/never")) }
        _ = await origin.waitForRequests(2)
        waiting.cancel()
        _ = await waiting.result
        let entries = recorder.archive().entries
        #expect(entries.count == 1)
        #expect(entries.first?.response.content.isTruncated ?? true)
        #expect(entries.first?.comment?.hasPrefix("failed: URLError ") == true)
    }

    @Test("does not change the bytes that an app gets, and is empty after removeAll")
    func sameBytes() async throws {
        let session = try session()
        for page in Site.pages {
            let (data, _) = try await session.data(from: site.origin.url(page.path))
            #expect(data == page.body)
        }
        #expect(recorder.count == Site.pages.count + 1)
        recorder.removeAll()
        #expect(recorder.archive().entries.isEmpty)
    }
}

/// `@unchecked Sendable`: its members change only on the delegate queue, and are read after the load has ended.
private final class Collector: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    var data = Data()
    var finished: (() -> Void)?

    func urlSession(_: URLSession, dataTask _: URLSessionDataTask, didReceive data: Data) { self.data.append(data) }

    func urlSession(_: URLSession, task _: URLSessionTask, didCompleteWithError _: (any Error)?) { finished?() }
}
