import Dispatch
import Foundation
import Logging
import Testing
import WaystationPacks
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

@Suite("Damage that was found before the app reads events")
struct ConditionTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    /// An interceptor whose cache, packs and cookies found damage when they were opened.
    private func interceptor() async throws -> Interceptor {
        let cacheFolder = folder.url.appending(path: "cache")
        try folder.write(Data.random(10_000), to: "cache/index.sqlite")
        let cache = try ResponseCache(directory: cacheFolder)
        await cache.flush()
        let packs = try await damagedPacks()
        let cookies = CookieStore(file: try folder.write("{", to: "cookies.json"))
        return try Interceptor {
            $0.rules = [.allow("https://shop.example/**", via: .cache(.standard))]
            $0.cache = cache
            $0.packs = packs
            $0.cookies = cookies
        }
    }

    private func damagedPacks() async throws -> PackLibrary {
        let site = try folder.write("home", to: "site/index.html").deletingLastPathComponent()
        let library = folder.url.appending(path: "packs")
        let shop = try #require(ModuleID("shop"))
        try await PackLibrary(directory: library).install(
            folder: site,
            as: PackDescription(
                module: shop,
                version: try #require(PackVersion("1.0")),
                baseURLs: ["https://shop.example/app/"]
            )
        )
        let module = library.appending(path: "modules/shop")
        let version = try #require(
            try FileManager.default.contentsOfDirectory(atPath: module.path).first { $0.hasPrefix("1.0-") }
        )
        try Data("{".utf8).write(to: module.appending(path: version + "/manifest.json"))
        return try PackLibrary(directory: library)
    }

    private func kinds(_ events: [LoadEvent]) -> [String] {
        events.map { event in
            switch event.kind {
            case .store(let event): "cache \(event.kind)"
            case .source(let event as PackEvent): "pack \(event.kind)"
            case .cookies(let event): if case .damagedFile = event.kind { "cookies damagedFile" } else { "cookies" }
            default: "\(event)"
            }
        }
    }

    @Test("is in `condition`, and comes first in each new stream of events")
    func readers() async throws {
        let expected = ["cache damaged", "pack damaged", "cookies damagedFile"]
        let interceptor = try await interceptor()
        #expect(kinds(interceptor.condition) == expected)
        for _ in 0..<2 {
            var events = interceptor.events.makeAsyncIterator()
            var told: [LoadEvent] = []
            while told.count < expected.count, let event = await events.next() { told.append(event) }
            #expect(kinds(told) == expected)
        }
    }

    @Test("is removed from `condition` when it has been repaired")
    func settled() async throws {
        let library = try await damagedPacks()
        #expect(library.condition.map(\.kind) == [.damaged])
        let site = folder.url.appending(path: "site")
        try await library.install(
            folder: site,
            as: PackDescription(
                module: try #require(ModuleID("shop")),
                version: try #require(PackVersion("1.1")),
                baseURLs: ["https://shop.example/app/"]
            )
        )
        #expect(library.condition.isEmpty)
    }

    @Test("is never reported after the event that ended it")
    func order() async throws {
        let events = EventBroadcaster(logger: Logger(label: "test"))
        let end = LoadEvent(kind: .stored(bytes: 1))
        let ended = DispatchGroup()
        let stream = events.makeStream {
            // Another thread emits the end while the new stream gets the condition.
            let begun = DispatchSemaphore(value: 0)
            DispatchQueue.global().async(group: ended) {
                begun.signal()
                events.emit(end)
            }
            begun.wait()
            return [LoadEvent(kind: .degraded("condition"))]
        }
        var iterator = stream.makeAsyncIterator()
        let first = await iterator.next()
        let second = await iterator.next()
        guard case .degraded = first?.kind, case .stored = second?.kind else {
            Issue.record("\(first.map { "\($0)" } ?? "nothing"), then \(second.map { "\($0)" } ?? "nothing")")
            return
        }
    }
}
