import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationOrigin
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@Suite("A download task whose rule answers it", .timeLimit(.minutes(10)))
struct DownloadTaskTests {
    private let body = RangedBody(300_000)
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func fixture(_ strategy: CacheStrategy = .standard) throws -> CachingFixture {
        try CachingFixture(strategy) { [body] in body.answer(to: $0) }
    }

    private func contents(of file: URL) throws -> String {
        defer { try? FileManager.default.removeItem(at: file) }
        return String(decoding: try Data(contentsOf: file), as: UTF8.self)
    }

    @Test(
        "is stored while it loads, and then loads without the network",
        arguments: [CacheStrategy.standard, .revalidate, .cacheFirst(for: .days(1)), .networkFirst()],
        [10.0, 10_000.0]
    )
    func stored(strategy: CacheStrategy, seconds: TimeInterval) async throws {
        body.change { $0.fields["Cache-Control"] = "max-age=60, stale-if-error=100000" }
        let fixture = try fixture(strategy)
        let (first, _) = try await fixture.session.download(from: fixture.origin.url())
        #expect(try contents(of: first) == body.text())
        await fixture.cache.flush()
        fixture.clock.advance(by: seconds)
        fixture.origin.stop()
        let (second, response) = try await fixture.session.download(from: fixture.origin.url())
        #expect(first != second)
        #expect(try contents(of: second) == body.text())
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Type") == "video/mp4")
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("that was broken off continues at the first byte that is missing")
    func resumed() async throws {
        body.change { $0.breaksAfter = 200_000 }
        let fixture = try fixture()
        await #expect(throws: URLError.self) { _ = try await fixture.session.download(from: fixture.origin.url()) }
        await fixture.cache.flush()
        let (file, response) = try await fixture.session.download(from: fixture.origin.url())
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(try contents(of: file) == body.text())
        #expect(fixture.seen(1, "Range") == "bytes=200000-")
        #expect(body.sent == 300_000)
    }

    @Test("that only accepts what is stored fails without it, and is not sent")
    func onlyIfCached() async throws {
        let fixture = try fixture()
        let request = URLRequest(url: fixture.origin.url(), cachePolicy: .returnCacheDataDontLoad)
        let error = await #expect(throws: URLError.self) { _ = try await fixture.session.download(for: request) }
        #expect(error?.code == .resourceUnavailable)
        #expect(fixture.origin.requestCount == 0)
    }

    @Test("tells its delegate each part and the true total, and then gives it the file")
    func progress() async throws {
        let fixture = try fixture()
        for _ in 0..<2 {
            let delegate = DownloadCollector()
            let session = URLSession(
                configuration: .ephemeral.intercepted(by: fixture.interceptor),
                delegate: delegate,
                delegateQueue: nil
            )
            let task = session.downloadTask(with: fixture.origin.url())
            #expect(await delegate.run(task) == nil)
            await fixture.cache.flush()
            let told = delegate.told
            #expect(told.reduce(0) { $0 + $1.count } == 300_000)
            #expect(told.map(\.total) == told.map(\.total).sorted())
            #expect(told.last?.total == 300_000)
            #expect(told.allSatisfy { $0.expected == 300_000 })
            #expect(delegate.text == body.text())
            #expect(task.progress.fractionCompleted == 1)
            #expect(task.progress.totalUnitCount == 300_000)
            session.finishTasksAndInvalidate()
        }
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("gets the body of the answer alone, when a refusal with a body of its own came before")
    func refusedFirst() async throws {
        let fixture = try CachingFixture { request in
            request.value(of: "Authorization") == nil
                ? .status(401, fields: ["WWW-Authenticate": "Basic realm=\"r\""], body: Data("refused".utf8))
                : .ok("granted")
        }
        let delegate = RecordingDelegate(credential: { challenge in
            (.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
        })
        let session = URLSession(
            configuration: .ephemeral.intercepted(by: fixture.interceptor),
            delegate: delegate,
            delegateQueue: nil
        )
        session.downloadTask(with: fixture.origin.url()).resume()
        await delegate.completion()
        #expect(delegate.calls == [.challenge(failures: 0), .downloaded(7), .completed(nil)])
    }

    @Test("is suspended and resumed without a byte lost or doubled")
    func suspended() async throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { _ in
            .stream([.bytes(Data("first".utf8)), .wait(gate), .bytes(Data("rest".utf8))])
        }
        let (_, interceptor) = try session(LocalFileSystem(), directory)
        let delegate = RecordingDelegate()
        let session = URLSession(
            configuration: .ephemeral.intercepted(by: interceptor),
            delegate: delegate,
            delegateQueue: nil
        )
        let task = session.downloadTask(with: origin.url("/a"))
        task.resume()
        await origin.waitForRequests(1)
        task.suspend()
        gate.open()
        task.resume()
        await delegate.completion()
        #expect(delegate.calls == [.downloaded(9), .completed(nil)])
        #expect(origin.requestCount == 1)
    }

    @Test("removes its temporary file when it is cancelled or broken off", arguments: [false, true])
    func removed(isCancelled: Bool) async throws {
        let operations = AsyncStream<(FaultyFileSystem.Operation, String)>.makeStream()
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { _ in
            isCancelled
                ? .stream([.bytes(Data("first".utf8)), .wait(gate)])
                : .message(200, ["Content-Length": "10"], Data("first".utf8))
        }
        let files = FaultyFileSystem { operations.continuation.yield(($0, $1)) }
        let (session, _) = try session(files, directory)
        let task = session.downloadTask(with: origin.url("/a"))
        task.resume()
        var made: String?
        for await (operation, path) in operations.stream {
            if operation == .createFile { made = path }
            if operation == .write, isCancelled { task.cancel() }
            guard operation == .removeFile else { continue }
            #expect(path == made)
            break
        }
    }

    @Test("fails with the reason when its file cannot be written, and ends the traffic", arguments: [true, false])
    func fullDisk(atOnce: Bool) async throws {
        let system = FaultyFileSystem { operation, path in
            guard operation == (atOnce ? .createFile : .write) else { return }
            throw FileError("write", path, code: ENOSPC)
        }
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { _ in .stream([.bytes(Data("first".utf8)), .wait(gate)]) }
        let (session, interceptor) = try session(system, directory)
        let events = interceptor.events
        let error = await #expect(throws: URLError.self) { try await session.download(from: origin.url("/a")) }
        #expect(error?.code == .cannotWriteToFile)
        #expect(error?.localizedDescription.contains("No space left on device") == true)
        #expect(await origin.waitForAbandonedRequests(1).map(\.path) == ["/a"])
        for await event in events {
            guard case .failed(let told) = event.kind else { continue }
            #expect(told.code == .cannotWriteToFile)
            break
        }
    }

    /// A session whose downloads have their files in this file system.
    private func session(
        _ files: any FileSystem,
        _ directory: TemporaryDirectory
    ) throws -> (URLSession, Interceptor) {
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.standard))]
            $0.cache = try ResponseCache(directory: directory.url, environment: .patient)
            $0.files = files
        }
        return (URLSession(configuration: .ephemeral.intercepted(by: interceptor)), interceptor)
    }

    @Test("gets a folder's file as a data task does, and the folder keeps its own")
    func folder() async throws {
        let page = directory.url.appending(path: "page.html")
        try Data("<p>kept".utf8).write(to: page)
        let interceptor = try Interceptor { [directory] in
            $0.rules = [
                .allow(
                    "https://shop.example/**",
                    via: .files(in: directory.url, at: "https://shop.example/", orElse: .nowhere)
                )
            ]
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        let (file, response) = try await session.download(
            from: try #require(URL(string: "https://shop.example/page.html"))
        )
        #expect(try contents(of: file) == "<p>kept")
        #expect(response.mimeType == "text/html")
        #expect(FileManager.default.fileExists(atPath: page.path))
    }
}
