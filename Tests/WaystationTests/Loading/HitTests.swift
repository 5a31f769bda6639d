import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTestSupport

@Suite("Local answers")
struct HitTests {
    private let site: TemporaryDirectory
    private let interceptor: Interceptor

    init() throws {
        let site = try TemporaryDirectory()
        try site.write("<!doctype html><title>home</title>", to: "index.html")
        try site.write("body {}", to: "css/site.css")
        try site.write(
            Data((0..<3000).flatMap { Array(repeating: UInt8(truncatingIfNeeded: $0), count: 1000) }),
            to: "big.bin"
        )
        self.site = site
        interceptor = try Interceptor {
            $0.rules = [
                .block("http://site.test/ads/**"),
                .allow("http://site.test/**", via: .files(in: site.url, at: "http://site.test/", orElse: .nowhere)),
            ]
        }
    }

    private func session(_ delegate: RecordingDelegate? = nil) -> URLSession {
        URLSession(configuration: .default.intercepted(by: interceptor), delegate: delegate, delegateQueue: nil)
    }

    private func url(_ path: String) throws -> URL { try #require(URL(string: "http://site.test" + path)) }

    @Test("a file reaches an async caller whole, with its type, length and Cache-Status")
    func fileToAsyncCaller() async throws {
        for _ in 0..<2 {
            let (data, response) = try await session().data(from: url("/css/site.css"))
            let head = try #require(response as? HTTPURLResponse)
            #expect(String(decoding: data, as: UTF8.self) == "body {}")
            #expect(head.statusCode == 200)
            #expect(head.value(forHTTPHeaderField: "Content-Type") == "text/css; charset=utf-8")
            #expect(head.expectedContentLength == 7)
            #expect(head.value(forHTTPHeaderField: "Cache-Status") == "Waystation; hit; detail=files")
        }
    }

    @Test("a long file reaches a completion handler in one piece")
    func longFileToCompletionHandler() async throws {
        let (data, _) = try await session().data(from: url("/big.bin"))
        #expect(data == (try Data(contentsOf: site.url.appending(path: "big.bin"))))
    }

    @Test("a long file reaches a delegate in chunks, in order, each byte once")
    func longFileToDelegate() async throws {
        let delegate = RecordingDelegate()
        session(delegate).dataTask(with: try url("/big.bin")).resume()
        await delegate.completion()
        #expect(delegate.calls == [.response(200), .data(3_000_000), .completed(nil)])
        #expect(delegate.body == (try Data(contentsOf: site.url.appending(path: "big.bin"))))
    }

    @Test("a completion handler in a session with a delegate gets the whole body")
    func completionHandlerBesideDelegate() async throws {
        let delegate = RecordingDelegate()
        let session = session(delegate)
        let url = try url("/big.bin")
        let count = await withCheckedContinuation { continuation in
            session.dataTask(with: url) { data, _, _ in continuation.resume(returning: data?.count) }.resume()
        }
        #expect(count == 3_000_000)
    }

    @Test("a delegate that refuses the response gets no byte and the task ends as cancelled")
    func refusedResponse() async throws {
        let delegate = RecordingDelegate(disposition: .cancel)
        session(delegate).dataTask(with: try url("/big.bin")).resume()
        await delegate.completion()
        #expect(delegate.calls == [.response(200), .completed(.cancelled)])
    }

    @Test("a delegate of one call can refuse a response with a body that is read from disk, but not with one in memory")
    func refusedByTheDelegateOfOneCall() async throws {
        let session = session()
        let refusing = RecordingDelegate(disposition: .cancel)
        let big = URLRequest(url: try url("/big.bin"))
        let error = await #expect(throws: URLError.self) { try await session.data(for: big, delegate: refusing) }
        #expect(error?.code == .cancelled)
        #expect(refusing.calls == [.response(200)])
        let small = URLRequest(url: try url("/css/site.css"))
        // The first load reads the file into memory.
        _ = try await session.data(for: small)
        let ignored = RecordingDelegate(disposition: .cancel)
        #expect(try await session.data(for: small, delegate: ignored).0 == Data("body {}".utf8))
        #expect(ignored.calls == [.response(200)])
    }

    @Test("a blocked request fails with the error .blocked")
    func blocked() async throws {
        let error = await #expect(throws: URLError.self) { try await session().data(from: url("/ads/1.png")) }
        #expect(error?.code == .resourceUnavailable)
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? WaystationError)?.code == .blocked)
    }

    @Test("a missing file at the end of a route fails without the network")
    func missing() async throws {
        let error = await #expect(throws: URLError.self) { try await session().data(from: url("/none.html")) }
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? WaystationError)?.code == .notFound)
    }

    @Test("cancelling in the middle of a long body delivers nothing more")
    func cancelInTheMiddle() async throws {
        let delegate = RecordingDelegate(received: { $0.cancel() })
        session(delegate).dataTask(with: try url("/big.bin")).resume()
        await delegate.completion()
        #expect(delegate.calls.last == .completed(.cancelled))
        #expect(delegate.body.count < 3_000_000)
        #expect(delegate.calls.filter { if case .completed = $0 { true } else { false } }.count == 1)
    }

    @Test("an interceptor that is switched off leaves its sessions to Foundation")
    func switchedOff() async throws {
        interceptor.isEnabled = false
        await #expect(throws: URLError.self) { try await session().data(from: url("/index.html")) }
        interceptor.isEnabled = true
        #expect(try await session().data(from: url("/")).0.count == 34)
    }
}
