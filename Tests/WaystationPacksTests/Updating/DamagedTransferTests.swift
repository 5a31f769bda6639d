import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import WaystationPacks

@Suite("A damaged transfer")
struct DamagedTransferTests {
    private let fixture: UpdateFixture

    init() throws { fixture = try UpdateFixture() }

    /// The only outcome of a check.
    private func outcome(of updater: PackUpdater, isForced: Bool = true) async throws -> ModuleOutcome.Kind? {
        try await updater.check(isForced: isForced).outcomes.first?.kind
    }

    private func offer(_ offer: ModuleOffer) { fixture.server.offers.withLock { $0 = [offer] } }

    /// Installs 1.0 and offers 1.1, for which the server sends other bytes.
    private func beginDamaged(_ updater: PackUpdater) async throws -> (offer: ModuleOffer, file: Data) {
        try fixture.publish("1.0")
        _ = try await updater.check(isForced: true)
        let offer = try fixture.publish("1.1")
        let file = try fixture.server.file("1.1.zip")
        var bytes = file
        bytes[bytes.count / 2] ^= 0xFF
        _ = try fixture.server.put(bytes, at: "1.1.zip")
        return (offer, file)
    }

    @Test("is fetched again by the next check that is due, and installed when it arrives whole")
    func nextCheck() async throws {
        let updater = fixture.updater()
        let (_, file) = try await beginDamaged(updater)
        guard case .failed(let error)? = try await outcome(of: updater), error.code == .damaged else {
            Issue.record("the damage was not found")
            return
        }
        _ = try fixture.server.put(file, at: "1.1.zip")
        fixture.home.advance(331)
        guard case .updated? = try await outcome(of: updater, isForced: false) else {
            Issue.record("\(fixture.home.details)")
            return
        }
        #expect(try fixture.title() == "<title>1.1</title>")
    }

    @Test("is fetched again after pauses that grow from a minute to an hour")
    func pauses() async throws {
        let updater = fixture.updater()
        _ = try await beginDamaged(updater)
        var fetches: [Int] = []
        for minute in 0...250 {
            let before = fixture.server.fetched.count
            _ = try await updater.check(isForced: true)
            if fixture.server.fetched.count > before { fetches.append(minute) }
            fixture.home.advance(60)
        }
        #expect(fetches == [0, 1, 3, 7, 15, 31, 63, 123, 183, 243])
        #expect(try fixture.title() == "<title>1.0</title>")
    }

    @Test(
        "is fetched again at once when the server corrects the announced digest",
        arguments: ["archive", "manifest"]
    )
    func correctedDigest(_ which: String) async throws {
        let updater = fixture.updater()
        try fixture.publish("1.0")
        _ = try await updater.check(isForced: true)
        let right = try fixture.publish("1.1")
        var wrong = right
        let other = PackDigest(of: Data("other".utf8))
        if which == "archive" { wrong.archive?.digest = other } else { wrong.manifest = other }
        offer(wrong)
        guard case .failed? = try await outcome(of: updater) else {
            Issue.record("the wrong digest was taken")
            return
        }
        offer(right)
        guard case .updated? = try await outcome(of: updater) else {
            Issue.record("\(fixture.home.details)")
            return
        }
    }

    @Test("of a patch is tried again after its pause, if the whole pack failed too")
    func patch() async throws {
        let updater = fixture.updater()
        try fixture.publish("1.0")
        _ = try await updater.check(isForced: true)
        try fixture.publish("1.1")
        try fixture.offerPatch(from: "1.0", to: "1.1")
        let patch = try fixture.server.file("1.0-1.1.patch")
        _ = try fixture.server.put(Data(count: patch.count), at: "1.0-1.1.patch")
        fixture.server.refusals.withLock { $0["1.1.zip"] = (404, [:]) }
        guard case .failed? = try await outcome(of: updater) else {
            Issue.record("nothing failed")
            return
        }
        _ = try fixture.server.put(patch, at: "1.0-1.1.patch")
        fixture.home.advance(61)
        guard case .updated(.contentPatch, _, _)? = try await outcome(of: updater) else {
            Issue.record("\(fixture.home.details)")
            return
        }
    }

    @Test(
        "of a zip that cannot be read is refused as damaged, discarded, and not fetched at every check",
        arguments: [true, false]
    )
    func unreadableZip(isPinned: Bool) async throws {
        let updater = fixture.updater()
        try fixture.publish("1.0")
        _ = try await updater.check(isForced: true)
        var offer = try fixture.publish("1.1")
        let noZip = try fixture.server.put(Data("<title>Sign in to this network</title>".utf8), at: "1.1.zip")
        offer.archive = isPinned ? noZip : Artifact(url: noZip.url)
        self.offer(offer)
        guard case .failed(let error)? = try await outcome(of: updater) else {
            Issue.record("nothing failed")
            return
        }
        #expect(error.code == .damaged)
        let fetched = ["1.0.zip", "1.1.zip"]
        for _ in 0..<3 {
            guard case .postponed(.failedBefore)? = try await outcome(of: updater) else {
                Issue.record("it was tried again")
                return
            }
        }
        #expect(fixture.server.fetched == fetched)
        fixture.home.advance(61)
        guard case .failed? = try await outcome(of: updater) else {
            Issue.record("it was not tried again after its pause")
            return
        }
        // If the digest says that these are the published bytes, they are not fetched again.
        #expect(fixture.server.fetched == (isPinned ? fetched : fetched + ["1.1.zip"]))
        #expect(try fixture.title() == "<title>1.0</title>")
        try fixture.publish("1.2")
        _ = try await updater.check(isForced: true)
        #expect(try fixture.title() == "<title>1.2</title>")
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.home.layout.downloads).isEmpty)
    }

    @Test("A version that failed its trial waits a day, and another pack under its number does not")
    func failedTrial() async throws {
        let updater = fixture.updater()
        try fixture.publish("1.0")
        _ = try await updater.check(isForced: true)
        try fixture.publish("1.1")
        _ = try await updater.check(isForced: true)
        try await fixture.library.rollBack(.shop, reason: "white page")
        fixture.home.advance(86_000)
        guard case .postponed(.failedBefore)? = try await outcome(of: updater) else {
            Issue.record("it was tried again too early")
            return
        }
        try fixture.publish("1.1", files: ["index.html": "<title>mended</title>"])
        guard case .updated? = try await outcome(of: updater) else {
            Issue.record("\(fixture.home.details)")
            return
        }
        #expect(try fixture.title() == "<title>mended</title>")
    }

    @Test("A failure recorded while the clock was years ahead blocks no version after the clock is corrected")
    func clockSetBack() async throws {
        let updater = fixture.updater()
        let (_, file) = try await beginDamaged(updater)
        fixture.home.setClock(by: 1e9)
        _ = try await updater.check(isForced: true)
        fixture.home.setClock(by: -1e9)
        _ = try fixture.server.put(file, at: "1.1.zip")
        guard case .updated? = try await outcome(of: updater) else {
            Issue.record("\(fixture.home.details)")
            return
        }
    }

    @Test("A record whose failures name no digest is read, and blocks only a version that the app reported bad")
    func olderRecord() async throws {
        try fixture.publish("1.0")
        _ = try await fixture.updater().check(isForced: true)
        let file = URL(fileURLWithPath: fixture.home.layout.record(of: .shop))
        let record = try String(contentsOf: file, encoding: .utf8)
        let later = fixture.home.now().addingTimeInterval(80_000).formatted(.iso8601)
        func restart(_ failure: String) throws -> PackLibrary {
            let older = record.replacing("\"failures\":[]", with: "\"failures\":[\(failure)]")
            #expect(older != record)
            try Data(older.utf8).write(to: file)
            return try fixture.home.library()
        }
        let bad = try restart(#"{"retryAt":"\#(later)","to":"1.1","way":"version"}"#)
        try fixture.publish("1.1")
        guard case .postponed(.failedBefore)? = try await outcome(of: fixture.updater(of: bad)) else {
            Issue.record("the version that the app reported bad was tried again")
            return
        }
        let url = "https://packs.example/1.1.zip"
        let damaged = try restart(#"{"artifact":"\#(url)","retryAt":"\#(later)","to":"1.1","way":"whole"}"#)
        guard case .updated? = try await outcome(of: fixture.updater(of: damaged)) else {
            Issue.record("a damaged transfer still blocks the version")
            return
        }
    }
}
