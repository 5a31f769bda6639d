import Foundation
import FoundationNetworking
import Synchronization
import Testing
import WaystationStorage
import WaystationTestSupport

@testable import Waystation

@Suite("A store of cookies")
struct CookieStoreTests {
    private let clock = ManualClock()

    private func cookie(_ name: String, _ value: String = "1", lasting: TimeInterval? = nil) throws -> Cookie {
        try Cookie(
            name: name,
            value: value,
            domain: "shop.example",
            expires: lasting.map { clock.now() + $0 },
            creation: clock.now()
        )
    }

    @Test("reports each change in order, with its author")
    func changes() async throws {
        let store = CookieStore(now: clock.now)
        var changes = store.changes.makeAsyncIterator()
        let url = try #require(URL(string: "https://shop.example/"))
        let head = ResponseHead(url: url, statusCode: 200, fields: ["Set-Cookie": "b=2; Max-Age=5"])
        let (first, second) = (try cookie("a"), try cookie("a", "2"))
        try store.insert(first)
        try store.insert(second)
        store.remove(second.id)
        store.take(head, to: URLRequest(url: url), sent: store.moment())
        clock.advance(by: 5)
        _ = store.choosing(for: URLRequest(url: url), login: nil)
        var told: [CookieStore.Change] = []
        while told.count < 5, let change = await changes.next() { told.append(change) }
        #expect(told.map(\.author) == [.app, .app, .app, .response(url), .expiry])
        #expect(told[0].change == .added(first))
        guard case .changed(let new, from: let old) = told[1].change else { throw Unexpected() }
        #expect((new.value, old.value) == ("2", "1"))
        guard case .removed = told[2].change, case .added = told[3].change, case .expired = told[4].change else {
            throw Unexpected()
        }
    }

    private struct Unexpected: Error {}

    @Test("returns a separate stream for each reader, which ends with the store")
    func streams() async throws {
        var store: CookieStore? = CookieStore(now: clock.now)
        let (first, second) = (try #require(store?.changes), try #require(store?.changes))
        try store?.insert(try cookie("a"))
        store = nil
        for stream in [first, second] {
            var names: [String] = []
            for await change in stream { names.append(change.change.cookie.name) }
            #expect(names == ["a"])
        }
    }

    @Test("refuses a cookie for a public suffix")
    func publicSuffix() throws {
        let store = CookieStore(now: clock.now)
        let cookie = try Cookie(name: "a", value: "1", domain: "co.uk", creation: clock.now())
        let error = #expect(throws: CookieError.self) { try store.insert(cookie) }
        #expect(error?.code == .publicSuffix)
    }

    @Test("does not send a cookie where it does not belong, however many others have come since")
    func manyOthers() throws {
        let store = CookieStore(now: clock.now)
        try store.insert(
            Cookie(name: "sid", value: "abc", domain: "shop.example", isSecure: true, creation: clock.now())
        )
        try noteOthers(9_000, in: store)
        var request = URLRequest(url: try #require(URL(string: "http://shop.example/")))
        request.setValue("sid=abc; own=1", forHTTPHeaderField: "Cookie")
        #expect(store.choosing(for: request, login: nil).value(forHTTPHeaderField: "Cookie") == "own=1")
    }

    @Test("refuses a cookie that a log-out removed, however long it was in use before and however many came since")
    func endedLate() async throws {
        let store = CookieStore(now: clock.now)
        let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        let sync = try #require(store.sync(with: storage, limit: .seconds(3)) { _, _ in })
        let old = try cookie("sid")
        try store.insert(old)
        try noteOthers(8_190, in: store)
        _ = store.end(Cookie.ID(name: "token", domain: "shop.example", isHostOnly: false, path: "/"), of: "alice")
        try noteOthers(9_000, in: store)
        await store.synchronize()
        storage.setCookie(
            try #require(HTTPCookie(properties: [.name: "sid", .value: "1", .domain: ".shop.example", .path: "/"]))
        )
        _ = sync.look()
        #expect(store.cookies.isEmpty)
    }

    @Test("takes a cookie that the app adds after a log-out, while a load of another host is under way")
    func addedAfterLogout() async throws {
        let store = CookieStore(now: clock.now)
        let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        // The limit never passes, because nothing calls back.
        let sync = try #require(store.sync(with: storage, limit: .seconds(3_600)) { _, _ in })
        func put(_ name: String, _ domain: String) throws {
            let cookie = HTTPCookie(properties: [.name: name, .value: "1", .domain: domain, .path: "/"])
            storage.setCookie(try #require(cookie))
        }
        let load = sync.beginLoad(of: try #require(URL(string: "https://files.example/")), refusesCookies: false)
        try put("route", "files.example")
        try put("old", "files.example")
        await store.synchronize()
        for domain in ["shop.example", "files.example"] {
            _ = store.end(Cookie.ID(name: "token", domain: domain, isHostOnly: false, path: "/"), of: "alice")
        }
        await store.synchronize()
        try put("token", ".shop.example")
        _ = sync.look()
        #expect(store.cookies.map(\.name) == ["token"])
        // Those that were there before a log-out of their own host do not return.
        withExtendedLifetime(load) {}
        _ = consume load
        _ = sync.look()
        #expect(store.cookies.map(\.name) == ["token"])
    }

    /// Records as many cookies of another host, as a load balancer sets a new one with each response.
    private func noteOthers(_ count: Int, in store: CookieStore) throws {
        store.note(
            pairsOf: try (0..<count).map {
                try Cookie(name: "lb", value: "\(count)-\($0)", domain: "news.example", creation: clock.now())
            }
        )
    }

    // MARK: - On disk

    @Test("with a file restores its cookies, except session cookies")
    func durable() async throws {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "state/cookies.json")
        do {
            let store = CookieStore(file: file, now: clock.now)
            try store.insert(cookie("kept", lasting: 60))
            try store.insert(cookie("session"))
            await store.synchronize()
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        #expect(!String(decoding: try Data(contentsOf: file), as: UTF8.self).contains("session"))
        #expect(CookieStore(file: file, now: clock.now).cookies.map(\.name) == ["kept"])
        clock.advance(by: 60)
        #expect(CookieStore(file: file, now: clock.now).cookies.isEmpty)
    }

    @Test("with a file writes the last change also when the store is released at once")
    func releasedAtOnce() async throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appending(path: "cookies.json")
        for number in 0..<20 {
            let file = CookieFile(url)
            do {
                let store = CookieStore(file: file, rules: CookieRules(), now: clock.now)
                try store.insert(cookie("a", "\(number)", lasting: 60))
            }
            await file.flush()
            #expect(CookieStore(file: url, now: clock.now).cookies.map(\.value) == ["\(number)"])
        }
    }

    @Test("reads a file of more than 32 MiB, which a jar with larger limits may write")
    func largeFile() async throws {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "cookies.json")
        do {
            let store = CookieStore(file: file, now: clock.now)
            try store.insert(cookie("a", lasting: 60))
            await store.synchronize()
        }
        let handle = try FileHandle(forWritingTo: file)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(repeating: UInt8(ascii: " "), count: 33 << 20))
        try handle.close()
        #expect(CookieStore(file: file, now: clock.now).cookies.map(\.name) == ["a"])
    }

    @Test("renames a file that is a link, irregular or another user's, and leaves a link's target alone")
    func hostileFile() async throws {
        let folder = try TemporaryDirectory()
        let jar = folder.url.appending(path: "cookies.json")
        let store = CookieStore(file: jar, now: clock.now)
        try store.insert(cookie("planted", lasting: 1_000))
        await store.synchronize()
        let planted = folder.url.appending(path: "planted.json")
        try FileManager.default.moveItem(at: jar, to: planted)
        let content = try Data(contentsOf: planted)
        var ways: [(String, () throws -> Void)] = [
            (
                "symbolic link",
                { try FileManager.default.createSymbolicLink(at: jar, withDestinationURL: planted) }
            ),
            ("not a regular file", { try #require(mkfifo(jar.path, 0o600) == 0) }),
        ]
        if geteuid() == 0 {
            ways.append(
                (
                    "belongs to user 65534",
                    {
                        try content.write(to: jar)
                        try #require(chown(jar.path, 65_534, 65_534) == 0)
                    }
                )
            )
        }
        for (reason, plant) in ways {
            try plant()
            let store = CookieStore(file: jar, now: clock.now)
            #expect(store.cookies.isEmpty, "\(reason)")
            #expect(store.condition.first?.description.contains(reason) == true, "\(reason)")
            try store.insert(cookie("own", lasting: 1_000))
            await store.synchronize()
            #expect(CookieStore(file: jar, now: clock.now).cookies.map(\.name) == ["own"], "\(reason)")
            #expect(try Data(contentsOf: planted) == content, "\(reason)")
            try FileManager.default.removeItem(at: jar)
            try FileManager.default.removeItem(at: jar.appendingPathExtension("damaged"))
        }
    }

    @Test("removes other users' permissions from its file")
    func openFile() async throws {
        let folder = try TemporaryDirectory()
        let jar = folder.url.appending(path: "cookies.json")
        let store = CookieStore(file: jar, now: clock.now)
        try store.insert(cookie("a", lasting: 1_000))
        await store.synchronize()
        try #require(chmod(jar.path, 0o666) == 0)
        #expect(CookieStore(file: jar, now: clock.now).cookies.map(\.name) == ["a"])
        let mode = try FileManager.default.attributesOfItem(atPath: jar.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("renames a damaged file and keeps it", arguments: ["", "{", #"{"version":9,"cookies":[]}"#])
    func damaged(content: String) async throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write(content, to: "cookies.json")
        let store = CookieStore(file: file, now: clock.now)
        let interceptor = try Interceptor { $0.cookies = store }
        #expect(store.cookies.isEmpty)
        #expect(try String(contentsOf: folder.url.appending(path: "cookies.json.damaged"), encoding: .utf8) == content)
        try store.insert(cookie("a", lasting: 60))
        await store.synchronize()
        #expect(CookieStore(file: file, now: clock.now).cookies.count == 1)
        withExtendedLifetime(interceptor) {}
    }

    @Test("puts a file aside that is too large to be one of its own, and does not read it")
    func tooLarge() async throws {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "cookies.json")
        try SparseFile.make(at: file)
        let store = CookieStore(file: file, now: clock.now)
        #expect(store.cookies.isEmpty)
        #expect(
            store.condition.contains {
                if case .damagedFile(file, let error as FileError) = $0.kind { error.code == EOVERFLOW } else { false }
            }
        )
        #expect(FileManager.default.fileExists(atPath: file.path + ".damaged"))
        try store.insert(cookie("a", lasting: 60))
        await store.synchronize()
        #expect(CookieStore(file: file, now: clock.now).cookies.count == 1)
    }

    @Test("reports a problem with the file to each new listener")
    func condition() throws {
        let folder = try TemporaryDirectory()
        let store = CookieStore(file: try folder.write("x", to: "cookies.json"), now: clock.now)
        let told = Mutex<[String]>([])
        for _ in 0..<2 { store.addListener { event in told.withLock { $0.append("\(event)") } } }
        #expect(told.withLock { $0 } == store.condition.map { "\($0)" } + store.condition.map { "\($0)" })
        #expect(told.withLock { $0.first?.contains("cookies.json was damaged and put aside") } == true)
    }

    @Test("with a URL that is no file URL keeps its cookies in memory, names the URL, and makes nothing at its path")
    func notAFile() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.url.appending(path: "cookies.json").path
        let url = try #require(URL(string: "https://cookies.example\(path)?token=secret"))
        let store = CookieStore(file: url, now: clock.now)
        let told = Mutex<[String]>([])
        store.addListener { event in told.withLock { $0.append("\(event)") } }
        try store.insert(cookie("a", lasting: 60))
        await store.synchronize()
        #expect(store.cookies.count == 1)
        let message =
            "the cookies are not written: https://cookies.example\(path) is not a file URL: give it as URL(filePath:)"
        #expect(store.condition.map { "\($0)" } == [message])
        #expect(told.withLock { $0 } == [message])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
    }

    @Test("keeps its cookies in memory when the disk is full, and reports the error")
    func unwritable() async throws {
        let folder = try TemporaryDirectory()
        let disk = FaultyFileSystem { operation, path in
            if operation == .write { throw FileError("write", path, code: ENOSPC) }
        }
        let file = CookieFile(folder.url.appending(path: "cookies.json"), fileSystem: disk)
        let store = CookieStore(file: file, rules: CookieRules(), now: clock.now)
        let told = Mutex<[String]>([])
        store.addListener { event in told.withLock { $0.append("\(event)") } }
        try store.insert(cookie("a", lasting: 60))
        await store.synchronize()
        #expect(store.cookies.count == 1)
        #expect(told.withLock { $0.first?.contains("could not be written") } == true)
    }
}
