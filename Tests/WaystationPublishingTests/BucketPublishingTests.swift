import Foundation
import Synchronization
import Testing
import WaystationTestSupport

@testable import WaystationPacks
@testable import WaystationPublishing

@Suite("Releases in a bucket")
struct BucketPublishingTests {
    private let publisher: Publisher
    private let bucket: MemoryBucket

    init() throws {
        publisher = try Publisher()
        bucket = MemoryBucket { [publisher] in publisher.now }
    }

    private func releases(_ bucket: MemoryBucket? = nil, clockAhead: TimeInterval = 0) -> ReleaseDirectory {
        var environment = PackEnvironment()
        environment.now = { [publisher] in publisher.now + clockAhead }
        return ReleaseDirectory(in: bucket ?? self.bucket, environment: environment)
    }

    /// The catalogue as a new client would read it; the files that it names are compared with it.
    private func catalogue() throws -> Catalogue {
        let bytes = try #require(bucket[BucketLayout.catalogue])
        let keys = [publisher.key.trusted]
        let catalogue = try Catalogue.opening(bytes, signedBy: keys, after: nil, now: publisher.now).catalogue
        for release in catalogue.modules.flatMap(\.releases) {
            for file in [release.archive] + (release.patches ?? []).map(\.artifact) {
                let bytes = try #require(bucket[file.url], "\(file.url) is missing")
                #expect(PackDigest(of: bytes) == file.digest)
            }
        }
        return catalogue
    }

    private func live(_ name: String = "shop") throws -> String? {
        try catalogue().modules.first { $0.module.description == name }?.live?.description
    }

    /// The bucket as seen by a slow publisher: `meanwhile` runs before its first call of this kind.
    private func interposing(
        before call: MemoryBucket.Call,
        _ meanwhile: @escaping @Sendable () async throws(PackError) -> Void
    ) -> MemoryBucket {
        let isFirst = Mutex(true)
        return MemoryBucket(bucket) { present, moment throws(PackError) in
            guard present == call, moment == .before, isFirst.withLock({ $0.exchange(false) }) else { return }
            try await meanwhile()
        }
    }

    /// The bucket as seen by a publisher whose first write of the index takes effect, but whose reply is lost.
    ///
    /// `meanwhile` runs before the write is sent again.
    private func losingReply(
        _ meanwhile: @escaping @Sendable () async throws(PackError) -> Void
    ) -> MemoryBucket {
        let isFirst = Mutex(true)
        return MemoryBucket(bucket, resendingWrites: true) { call, moment throws(PackError) in
            guard call == .write(BucketLayout.index), moment == .after, isFirst.withLock({ $0.exchange(false) })
            else { return }
            try await meanwhile()
            throw PackError(.network, "the reply was lost")
        }
    }

    @Test("a publication, a rollback and a switch reach the catalogue, and patches lead from earlier versions")
    func life() async throws {
        try await releases().publish(zip: publisher.pack("1.0"), signedBy: [publisher.key])
        let second = try await releases().publish(zip: publisher.pack("1.1"), signedBy: [publisher.key])
        #expect(second.release.patches.map(\.from.description) == ["1.0", "1.0"])
        #expect(try live() == "1.1")
        try await releases().rollBack(module(), signedBy: [publisher.key])
        #expect(try live() == "1.0")
        try await releases().disable(module(), signedBy: [publisher.key])
        #expect(try catalogue().modules.first?.isActive == false)
        #expect(try catalogue().serial == 4)
        // Only the present catalogue is stored a second time.
        #expect(bucket.keys.filter { $0.hasPrefix(BucketLayout.catalogues) }.count == 1)
    }

    @Test("a change that another publisher overtakes is made again from the newer index, and both are kept")
    func overtaken() async throws {
        let (key, other) = (publisher.key, releases())
        let otherPack = try publisher.pack("1.0", of: "news")
        let slow = interposing(before: .write(BucketLayout.index)) { () throws(PackError) in
            _ = try await other.publish(zip: otherPack, signedBy: [key])
        }
        try await releases(slow).publish(zip: publisher.pack("1.0"), signedBy: [key])
        #expect(try catalogue().modules.map(\.module.description) == ["news", "shop"])
        #expect(try catalogue().serial == 2)
    }

    @Test("a slow publisher does not put its catalogue in the place of a newer one")
    func lateCatalogue() async throws {
        let (key, other) = (publisher.key, releases())
        let otherPack = try publisher.pack("1.0", of: "news")
        let slow = interposing(before: .write(BucketLayout.catalogue)) { () throws(PackError) in
            _ = try await other.publish(zip: otherPack, signedBy: [key])
        }
        try await releases(slow).publish(zip: publisher.pack("1.0"), signedBy: [key])
        #expect(try catalogue().serial == 2)
        #expect(try catalogue().modules.count == 2)
    }

    @Test("a publisher that was killed after the index is completed by the next one, even if that changes nothing else")
    func completed() async throws {
        try await releases().publish(zip: publisher.pack("1.0"), signedBy: [publisher.key])
        let killed = MemoryBucket(bucket) { call, moment throws(PackError) in
            if call == .write(BucketLayout.catalogue), moment == .before { throw PackError(.network, "killed") }
        }
        let pack = try publisher.pack("1.1")
        let code = await errorCode { try await releases(killed).publish(zip: pack, signedBy: [publisher.key]) }
        #expect(code == .network)
        #expect(try live() == "1.0")
        #expect(try await releases().renew(signedBy: [publisher.key]))
        #expect(try live() == "1.1")
        #expect(try await !releases().renew(signedBy: [publisher.key]))
    }

    @Test("whichever request fails, clients see the old or the new catalogue, and the change can be repeated")
    func everyCall() async throws {
        for moment in MemoryBucket.Moment.allCases {
            let calls = try await publishSecond(failing: .max, moment)
            #expect(calls > 10)
            for number in 0..<calls { _ = try await publishSecond(failing: number, moment) }
        }
    }

    /// Publishes a second version while one request fails, checks the result, and publishes it again.
    private func publishSecond(failing number: Int, _ moment: MemoryBucket.Moment) async throws -> Int {
        let test = try BucketPublishingTests()
        let key = test.publisher.key
        try await test.releases().publish(zip: test.publisher.pack("1.0"), signedBy: [key])
        let pack = try test.publisher.pack("1.1")
        let count = Mutex(0)
        let faulty = MemoryBucket(test.bucket) { call, present throws(PackError) in
            guard present == moment else { return }
            let index = count.withLock { count in
                count += 1
                return count - 1
            }
            if index == number { throw PackError(.network, "\(call) failed") }
        }
        let code = await errorCode { try await test.releases(faulty).publish(zip: pack, signedBy: [key]) }
        #expect(code == nil || code == .network)
        let live = try test.live()
        #expect(live == "1.1" || code != nil && live == "1.0")
        try await test.releases().publish(zip: pack, signedBy: [key])
        #expect(try test.live() == "1.1")
        #expect(try test.catalogue().serial == (try await test.releases().index().serial))
        return count.withLock { $0 }
    }

    @Test("of two packs with one version, published at once, the first wins, and its file stays as it is")
    func sameVersion() async throws {
        let (key, other) = (publisher.key, releases())
        let first = try publisher.pack("1.0", files: ["first.html": Data("first".utf8)])
        let slow = interposing(before: .write(BucketLayout.index)) { () throws(PackError) in
            _ = try await other.publish(zip: first, signedBy: [key])
        }
        let second = try publisher.pack("1.0", files: ["second.html": Data("second".utf8)])
        #expect(await errorCode { try await releases(slow).publish(zip: second, signedBy: [key]) } == .invalidArgument)
        let archive = try #require(try catalogue().modules.first?.releases.first?.archive)
        #expect(try bucket[archive.url] == Data(contentsOf: first))
        // The files of the pack that lost are removed.
        #expect(bucket.keys.filter { $0.hasSuffix(".zip") } == [archive.url])
    }

    @Test("pruning removes the files of old releases, and what interrupted publications left a day ago")
    func pruning() async throws {
        let attempt = "packs/shop/0.9/\(String(repeating: "07", count: 16))"
        let strays = [
            "\(attempt)/shop-0.9.zip", "\(attempt)/patches/0.8-content.patch", "\(attempt)/patches/0.8-zip.patch",
            "\(attempt)/patches/0.8-beta.1-content.patch",
            BucketLayout.staged(PackDigest(of: Data("old".utf8))),
        ]
        for stray in strays { _ = try await bucket.write(Data(), to: stray, as: .zip, if: nil) }
        for version in ["1.0", "1.1", "1.2", "1.3"] {
            try await releases().publish(zip: publisher.pack(version), keepingDeltas: 0, signedBy: [publisher.key])
        }
        try await releases().prune(keeping: 1, signedBy: [publisher.key])
        #expect(try catalogue().modules.first?.releases.map(\.version.description) == ["1.2", "1.3"])
        #expect(bucket.keys.filter { $0.hasSuffix(".zip") }.count == 3)
        #expect(strays.allSatisfy(bucket.keys.contains))
        publisher.pass(.seconds(100_000))
        try await releases().prune(keeping: 1, signedBy: [publisher.key])
        #expect(bucket.keys.filter { $0.hasSuffix(".zip") }.count == 2)
        #expect(!strays.contains(where: bucket.keys.contains))
    }

    @Test("pruning by a machine whose clock is ahead keeps what another publisher has just stored")
    func clockAhead() async throws {
        let (key, other) = (publisher.key, releases(clockAhead: 100_000))
        try await releases().publish(zip: publisher.pack("1.0"), signedBy: [key])
        let slow = interposing(before: .write(BucketLayout.index)) { () throws(PackError) in
            _ = try await other.prune(keeping: 1, signedBy: [key])
        }
        try await releases(slow).publish(zip: publisher.pack("1.1"), signedBy: [key])
        #expect(try live() == "1.1")
    }

    @Test("pruning leaves objects alone whose names a publisher does not make")
    func foreign() async throws {
        let attempt = "packs/shop/0.9/\(String(repeating: "07", count: 16))"
        let foreign = [
            "packs/x.bin", "packs/shop/notes.txt", "packs/shop/0.9/shop-0.9.zip", "packs/shop/0.9/old/shop-0.9.zip",
            "packs/shop/latest/\(String(repeating: "07", count: 16))/shop-latest.zip", "\(attempt)/news-0.9.zip",
            "\(attempt)/patches/readme.txt", "\(attempt)/patches/x-zip.patch", "\(attempt)/more/0.8-zip.patch",
            "\(attempt)/patches/0.8-zip.patch/x", "catalogues/readme.json", "catalogues/old.txt",
            "catalogues/\(String(repeating: "07", count: 16)).json",
        ]
        for key in foreign { _ = try await bucket.write(Data(), to: key, as: .zip, if: nil) }
        try await releases().publish(zip: publisher.pack("1.0"), signedBy: [publisher.key])
        publisher.pass(.seconds(100_000))
        try await releases().prune(keeping: 1, signedBy: [publisher.key])
        for key in foreign { #expect(bucket[key] != nil, "\(key) was removed") }
    }

    @Test("without its index, a bucket with a catalogue is neither pruned nor changed, and the error says what to do")
    func missingIndex() async throws {
        try await releases().publish(zip: publisher.pack("1.0"), signedBy: [publisher.key])
        try await bucket.remove(BucketLayout.index)
        publisher.pass(.seconds(100_000))
        let (keys, catalogue) = (bucket.keys, bucket[BucketLayout.catalogue])
        let pack = try publisher.pack("1.1")
        let key = publisher.key
        let changes: [() async throws -> Void] = [
            { try await releases().prune(keeping: 1, signedBy: [key]) },
            { try await releases().publish(zip: pack, signedBy: [key]) },
            { try await releases().renew(signedBy: [key]) },
            { _ = try await releases().index() },
        ]
        for change in changes {
            let error = await #expect(throws: PackError.self) { try await change() }
            #expect(error?.code == .damaged)
            #expect(error?.message.contains("restore releases.json from a backup") == true, "\(error?.message ?? "")")
            #expect(bucket.keys == keys)
            #expect(bucket[BucketLayout.catalogue] == catalogue)
        }
    }

    @Test("of two first publications at once, both are made")
    func firstOfTwo() async throws {
        let (key, other) = (publisher.key, releases())
        let otherPack = try publisher.pack("1.0", of: "news")
        // The other publisher is faster, after this one has found no index.
        let slow = interposing(before: .read(BucketLayout.catalogue)) { () throws(PackError) in
            _ = try await other.publish(zip: otherPack, signedBy: [key])
        }
        try await releases(slow).publish(zip: publisher.pack("1.0"), signedBy: [key])
        #expect(try catalogue().modules.map(\.module.description) == ["news", "shop"])
    }

    @Test("what an interrupted first publication left is pruned only when there is an index")
    func interruptedFirst() async throws {
        let killed = MemoryBucket(bucket) { call, moment throws(PackError) in
            if call == .write(BucketLayout.index), moment == .before { throw PackError(.network, "killed") }
        }
        let pack = try publisher.pack("1.0")
        let key = publisher.key
        #expect(await errorCode { try await releases(killed).publish(zip: pack, signedBy: [key]) } == .network)
        publisher.pass(.seconds(100_000))
        let keys = bucket.keys
        #expect(await errorCode { try await releases().prune(keeping: 1, signedBy: [key]) } == .damaged)
        #expect(bucket.keys == keys)
        try await releases().publish(zip: pack, signedBy: [key])
        try await releases().prune(keeping: 1, signedBy: [key])
        #expect(try live() == "1.0")
        #expect(!bucket.keys.contains(where: keys.contains))
    }

    @Test("a publication whose reply was lost keeps its files, although a higher version was published meanwhile")
    func lostReply() async throws {
        let (key, other) = (publisher.key, releases())
        try await other.publish(zip: publisher.pack("1.4"), signedBy: [key])
        let higher = try publisher.pack("1.6")
        let slow = losingReply { () throws(PackError) in _ = try await other.publish(zip: higher, signedBy: [key]) }
        let pack = try publisher.pack("1.5")
        let code = await errorCode { try await releases(slow).publish(zip: pack, signedBy: [key]) }
        #expect(code == nil)
        #expect(try live() == "1.6")
        #expect(try catalogue().modules.first?.releases.map(\.version.description) == ["1.4", "1.5", "1.6"])
        #expect(try catalogue().serial == 3)
    }

    @Test("a publication whose reply was lost is not made again after a rollback of it")
    func lostReplyBeforeRollback() async throws {
        let (key, other, shop) = (publisher.key, releases(), try module())
        try await other.publish(zip: publisher.pack("1.4"), signedBy: [key])
        let slow = losingReply { () throws(PackError) in _ = try await other.rollBack(shop, signedBy: [key]) }
        try await releases(slow).publish(zip: publisher.pack("1.5"), signedBy: [key])
        #expect(try live() == "1.4")
    }

    @Test("a rollback whose reply was lost goes back once", arguments: [nil, "1.1"])
    func rollbackOnce(to text: String?) async throws {
        let (key, other) = (publisher.key, releases())
        for version in ["1.0", "1.1", "1.2"] {
            try await other.publish(zip: publisher.pack(version), signedBy: [key])
        }
        let news = try publisher.pack("1.0", of: "news")
        let slow = losingReply { () throws(PackError) in _ = try await other.publish(zip: news, signedBy: [key]) }
        let target = try text.map(version)
        let code = await errorCode { try await releases(slow).rollBack(module(), to: target, signedBy: [key]) }
        #expect(code == nil)
        #expect(try live() == "1.1")
    }

    @Test("the last step is not taken back if another publisher has made a further step meanwhile")
    func overtakenRollback() async throws {
        let (key, other) = (publisher.key, releases())
        for version in ["1.0", "1.1"] { try await other.publish(zip: publisher.pack(version), signedBy: [key]) }
        let higher = try publisher.pack("1.2")
        let slow = losingReply { () throws(PackError) in _ = try await other.publish(zip: higher, signedBy: [key]) }
        let error = await #expect(throws: PackError.self) {
            try await releases(slow).rollBack(module(), signedBy: [key])
        }
        #expect(error?.code == .busy)
        #expect(try live() == "1.2")
    }

    @Test("a dry run writes nothing")
    func dryRun() async throws {
        try await releases().publish(zip: publisher.pack("1.0"), dryRun: true, signedBy: [publisher.key])
        #expect(bucket.keys.isEmpty)
    }

    @Test("pruning whose reply was lost removes the files all the same, and says so")
    func lostReplyOfPruning() async throws {
        let (key, other) = (publisher.key, releases())
        for version in ["1.0", "1.1", "1.2"] {
            try await other.publish(zip: publisher.pack(version), keepingDeltas: 0, signedBy: [key])
        }
        let news = try publisher.pack("1.0", of: "news")
        let slow = losingReply { () throws(PackError) in _ = try await other.publish(zip: news, signedBy: [key]) }
        let pruning = try await releases(slow).prune(keeping: 1, signedBy: [key])
        #expect(pruning.removed.map(\.version.description) == ["1.0"])
        #expect(!bucket.keys.contains { $0.hasSuffix("shop-1.0.zip") })
    }
}

extension Bool {
    /// Sets another value, and returns the present one.
    fileprivate mutating func exchange(_ value: Bool) -> Bool {
        defer { self = value }
        return self
    }
}
