import Foundation
import HTTPTypes
import Testing
import WaystationTestSupport

@testable import WaystationStorage

@Suite("Storing and looking up")
struct StoringTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test(
        "returns the stored bytes, however many there are",
        arguments: [0, 1, 16_384, 65_536, 65_537, 131_072, 1_000_001]
    )
    func roundTrip(length: Int) async throws {
        let body = Data.random(length)
        try await fixture.store().store(.get("a"), body)
        let reopened = fixture.store()
        let response = try #require(await reopened.lookup(.get("a")).first)
        #expect(try response.body.contents() == body)
        #expect(response.body.length == length)
        if case .file = response.body { #expect(length > 65_536) } else { #expect(length <= 65_536) }
        #expect(fixture.files(in: "bodies").count == (length > 65_536 ? 1 : 0))
        #expect(fixture.files(in: "staging").filter { !$0.hasSuffix("/lock") }.isEmpty)
    }

    @Test("returns status, times, fields and vary record unchanged")
    func head() async throws {
        var fields = HTTPFields()
        fields.append(HTTPField(name: .setCookie, value: "a=1"))
        fields.append(HTTPField(name: .contentType, value: "text/html"))
        fields.append(HTTPField(name: .setCookie, value: "b=2"))
        let vary = VaryKey([.init(name: .accept, value: nil), .init(name: .acceptLanguage, value: "de, en")])
        let entry = StoredHead(
            key: .get("a", partition: "anna"),
            status: 404,
            headerFields: fields,
            vary: vary,
            requestTime: fixture.clock.now.addingTimeInterval(-1.5),
            responseTime: fixture.clock.now,
            contentLength: 3
        )
        let store = fixture.store()
        let writer = try #require(store.begin(entry))
        writer.append(Data("ab".utf8))
        writer.append(Data("c".utf8))
        let id = try await writer.commit()
        let response = try #require(await store.lookup(entry.key).first)
        #expect(response.id == id)
        #expect(response.head.key == entry.key)
        #expect(response.head.status == 404)
        #expect(response.head.headerFields == fields)
        #expect(Array(response.head.headerFields.map(\.value)) == ["a=1", "text/html", "b=2"])
        #expect(response.head.vary == vary)
        #expect(response.head.requestTime == entry.requestTime)
        #expect(response.head.responseTime == entry.responseTime)
    }

    @Test("refuses a response that no request matches, because its Vary has a member *")
    func variesOnEverything() {
        let head = StoredHead(
            key: .get("a"),
            status: 200,
            headerFields: [.vary: "*"],
            vary: VaryKey([.vary: "*"], request: [:]),
            requestTime: fixture.clock.now,
            responseTime: fixture.clock.now
        )
        #expect(fixture.store().begin(head) == nil)
    }

    @Test("distinguishes keys by method, URL and partition")
    func keys() async throws {
        let store = fixture.store()
        let keys = [
            RequestKey.get("a"), .get("a?"), .get("A"), .get("a", partition: "anna"),
            RequestKey(method: "HEAD", url: "https://shop.example/a"),
        ]
        for (number, key) in keys.enumerated() { try await store.store(key, Data([UInt8(number)])) }
        for (number, key) in keys.enumerated() { #expect(try await store.bodies(key) == [Data([UInt8(number)])]) }
        #expect(await store.lookup(.get("b")).isEmpty)
    }

    @Test("keeps several variants, newest first, and replaces the one with the same record")
    func variants() async throws {
        let store = fixture.store()
        func language(_ value: String?) -> VaryKey { VaryKey([.init(name: .acceptLanguage, value: value)]) }
        for (value, text) in [("de", "eins"), ("en", "one"), (nil, "1"), ("de", "zwei")] {
            fixture.clock.advance(.seconds(1))
            try await store.store(.get("a"), Data(text.utf8), vary: language(value))
        }
        let found = await store.lookup(.get("a"))
        #expect(found.map(\.head.vary) == [language("de"), language(nil), language("en")])
        #expect(try found.map { try $0.body.contents() } == ["zwei", "1", "one"].map { Data($0.utf8) })
    }

    @Test("keeps at most as many variants of a key as the limit, and removes the oldest")
    func variantLimit() async throws {
        let store = fixture.store(limits: StoreLimits(maximumVariants: 3))
        for number in 0..<5 {
            fixture.clock.advance(.seconds(1))
            let vary = VaryKey([.init(name: .cookie, value: "\(number)")])
            try await store.store(.get("a"), Data([UInt8(number)]), vary: vary)
        }
        #expect(try await store.bodies(.get("a")) == [Data([4]), Data([3]), Data([2])])
    }

    @Test(
        "keeps parts of more than 4 KiB in files, since a look-up reads the bodies in the index of all parts of its key"
    )
    func parts() async throws {
        let store = fixture.store()
        for (place, length) in [(0, 4_096), (10_000, 4_097), (20_000, 70_000)] {
            let head = StoredHead(
                key: .get("film"),
                status: 206,
                headerFields: [.eTag: "\"a\"", .contentRange: "bytes \(place)-\(place + length - 1)/100000"],
                vary: VaryKey([.init(name: .range, value: "bytes=\(place)-\(place + length - 1)")]),
                requestTime: fixture.clock.now,
                responseTime: fixture.clock.now
            )
            let writer = try #require(store.begin(head))
            writer.append(.random(length, seed: UInt64(place)))
            try await writer.commit()
        }
        try await store.store(.get("page"), .random(60_000))
        let entries = try StoreInspector(directory: fixture.directory).entries()
        let inFiles = Set(entries.filter { $0.bodyFile != nil }.map(\.bodyLength))
        #expect(entries.count == 4 && inFiles == [4_097, 70_000])
        for found in try await store.bodies(.get("film")) { #expect([4_096, 4_097, 70_000].contains(found.count)) }
    }

    @Test("removes the file of a large body that is replaced, while readers of the old one keep their bytes")
    func replacement() async throws {
        let store = fixture.store()
        let (old, new) = (Data.random(200_000, seed: 1), Data.random(150_000, seed: 2))
        try await store.store(.get("a"), old)
        let held = try #require(await store.lookup(.get("a")).first)
        try await store.store(.get("a"), new)
        #expect(try await store.bodies(.get("a")) == [new])
        #expect(try held.body.contents() == old)
        #expect(fixture.files(in: "bodies").count == 1)
    }

    @Test("finds nothing before the commit", arguments: [10, 300_000])
    func visibility(length: Int) async throws {
        let store = fixture.store()
        let writer = try #require(store.write(.get("a"), .random(length)))
        await store.flush()
        #expect(await store.lookup(.get("a")).isEmpty)
        try await writer.commit()
        #expect(await store.lookup(.get("a")).count == 1)
    }

    @Test("leaves nothing behind after abandoned, forgotten and repeated commits", arguments: [10, 300_000])
    func abandonment(length: Int) async throws {
        let store = fixture.store()
        let abandoned = try #require(store.write(.get("a"), .random(length)))
        abandoned.abandon()
        await #expect(throws: StoreError.self) { try await abandoned.commit() }
        _ = store.write(.get("b"), .random(length))
        await store.flush()
        #expect(await store.statistics().entries == 0)
        #expect(fixture.files(in: "bodies").isEmpty)
        #expect(fixture.files(in: "staging").allSatisfy { $0.hasSuffix("/lock") })
    }

    @Test("does not store a body of another length than announced", arguments: [9, 11])
    func truncation(length: Int) async throws {
        let store = fixture.store()
        let writer = try #require(store.write(.get("a"), .random(length), expecting: 10))
        let error = await #expect(throws: StoreError.self) { try await writer.commit() }
        #expect(error?.code == .truncated)
        #expect(await store.lookup(.get("a")).isEmpty)
        #expect(fixture.events.of(.truncated).count == 1)
    }

    @Test("refuses a body beyond the entry limit when it is announced, and abandons one that grows beyond it")
    func tooLarge() async throws {
        let store = fixture.store(limits: StoreLimits(maximumEntrySize: .kibibytes(200)))
        #expect(store.write(.get("a"), Data(), expecting: 204_801) == nil)
        let writer = try #require(store.write(.get("a"), .random(150_000)))
        writer.append(.random(60_000))
        writer.append(.random(10))
        await #expect(throws: StoreError.self) { try await writer.commit() }
        await store.flush()
        #expect(fixture.events.of(.tooLarge).count == 2)
        #expect(fixture.files(in: "staging").allSatisfy { $0.hasSuffix("/lock") })
    }

    @Test("replaces fields and times when it freshens, and keeps the body", arguments: [10, 100_000])
    func freshening(length: Int) async throws {
        let store = fixture.store()
        try await store.store(.get("a"), .random(length))
        let old = try #require(await store.lookup(.get("a")).first)
        fixture.clock.advance(.seconds(100))
        let time = fixture.clock.now
        let fields: HTTPFields = [.eTag: "\"2\""]
        #expect(try await store.freshenAndWait(old, fields, at: time))
        let new = try #require(await store.lookup(.get("a")).first)
        #expect(new.id == old.id)
        #expect(new.head.headerFields == fields)
        #expect(new.head.responseTime == time)
        #expect(try new.body.contents() == .random(length))
        try await store.remove(.url(old.head.key.url))
        #expect(try await !store.freshenAndWait(old, fields, at: time))
    }

    @Test("reads any range of a large body")
    func ranges() async throws {
        let store = fixture.store()
        let body = Data.random(200_000)
        try await store.store(.get("a"), body)
        let response = try #require(await store.lookup(.get("a")).first)
        guard case .file(let file) = response.body else { throw StoreError(.damaged, "the body is not in a file") }
        for (offset, count) in [
            (0, 65_536), (65_535, 2), (1, 199_999), (199_999, 50), (131_072, .max), (200_000, 1), (-1, 4), (5, 0),
        ] {
            let expected = offset < 0 ? Data() : body.dropFirst(offset).prefix(count)
            #expect(try file.read(at: offset, count: count) == expected, "\(offset) \(count)")
        }
    }

    @Test("creates files that only their owner can read")
    func modes() async throws {
        let store = fixture.store()
        try await store.store(.get("a"), .random(100_000))
        let walk = FileManager.default.enumerator(atPath: fixture.directory.path(percentEncoded: false))
        for case let path as String in try #require(walk) {
            let item = fixture.directory.appending(path: path).path(percentEncoded: false)
            let mode = try FileManager.default.attributesOfItem(atPath: item)[.posixPermissions] as? Int
            let type = try FileManager.default.attributesOfItem(atPath: item)[.type] as? FileAttributeType
            #expect(mode == (type == .typeDirectory ? 0o700 : 0o600), "\(path)")
        }
    }

    @Test("never mixes up bodies in many look-ups and writes at once")
    func concurrency() async throws {
        let store = fixture.store(limits: StoreLimits(residentLimit: .kibibytes(256)))
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(worker))
                    for _ in 0..<60 {
                        let name = UInt64.random(in: 0..<10, using: &random)
                        let length = name == 0 ? 70_000 : 1_000 + Int(name)
                        if Bool.random(using: &random) {
                            store.write(.get("\(name)"), .random(length, seed: name))?.commit { _ in }
                        } else {
                            let key = RequestKey.get("\(name)")
                            let found =
                                if let resident = store.resident(key) { resident } else { await store.lookup(key) }
                            for response in found {
                                let body = try? response.body.contents()
                                #expect(body == .random(length, seed: name))
                            }
                        }
                    }
                }
            }
        }
        await store.flush()
        #expect(fixture.events.all.allSatisfy { $0.kind == .stored })
    }
}
