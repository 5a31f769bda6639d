import Foundation
import Testing
import WaystationTesting

@testable import WaystationPacks

@Suite struct CatalogueTests {
    private let key: SigningKey
    private let now = Sample.moment

    init() throws { key = try SigningKey.generate() }

    private func release(
        _ version: String,
        url: String? = nil,
        patches: [Catalogue.Patch]? = nil
    ) throws -> Catalogue.Release {
        Catalogue.Release(
            try Sample.version(version),
            released: now,
            manifest: PackDigest(of: Data("manifest \(version)".utf8)),
            installedSize: 5000,
            archive: .init(url: url ?? "shop/\(version).zip", size: 1000, digest: PackDigest(of: Data(version.utf8))),
            patches: patches
        )
    }

    private func patch(from version: String) throws -> Catalogue.Patch {
        Catalogue.Patch(
            .content,
            from: try Sample.version(version),
            base: PackDigest(of: Data("manifest \(version)".utf8)),
            result: PackDigest(of: Data("manifest 2.0".utf8)),
            artifact: .init(url: "shop/\(version)-2.0.patch", size: 10, digest: PackDigest(of: Data()))
        )
    }

    private func catalogue(
        serial: UInt64 = 7,
        _ change: (inout Catalogue) throws -> Void = { _ in }
    ) throws -> Catalogue {
        var module = Catalogue.Module(
            try Sample.module("shop"),
            live: PackVersion("1.0"),
            releases: [try release("1.0"), try release("2.0", patches: [try patch(from: "1.0")])]
        )
        module.rollout = Rollout(try Sample.version("2.0"), percentage: 50, salt: "s")
        module.minimumVersion = PackVersion("0.9")
        module.minimumAppVersion = PackVersion("2.0")
        module.network = .unmetered
        module.baseURLs = ["https://shop.example/app/"]
        var catalogue = Catalogue(
            serial: serial,
            issued: now.addingTimeInterval(-60),
            expires: now.addingTimeInterval(60),
            modules: [module]
        )
        try change(&catalogue)
        return catalogue
    }

    private func open(
        _ bytes: Data,
        after state: CatalogueState? = nil,
        at now: Date? = nil
    ) throws -> (Catalogue, CatalogueState) {
        let opened = try Catalogue.opening(bytes, signedBy: [key.trusted], after: state, now: now ?? self.now)
        return (opened.catalogue, opened.state)
    }

    @Test("A signed catalogue is read back unchanged, with the state to keep")
    func roundTrip() throws {
        let catalogue = try catalogue()
        let bytes = try catalogue.signed(by: [key])
        let (opened, state) = try open(bytes)
        #expect(opened == catalogue)
        #expect(state.serial == 7)
        #expect(try JSONDecoder().decode(CatalogueState.self, from: JSONEncoder().encode(state)) == state)
        // The same bytes under the same number are accepted again.
        #expect(try open(catalogue.signed(by: [key]), after: state).1 == state)
    }

    @Test("An older catalogue is refused, even if it is signed and valid")
    func rollback() async throws {
        let (_, state) = try open(try catalogue(serial: 8).signed(by: [key]))
        let old = try catalogue(serial: 7).signed(by: [key])
        #expect(await errorCode { try open(old, after: state) } == .rolledBack)
        #expect(try open(try catalogue(serial: 9).signed(by: [key]), after: state).1.serial == 9)
    }

    @Test("Another catalogue under an accepted number is refused")
    func equivocation() async throws {
        let (_, state) = try open(try catalogue().signed(by: [key]))
        let other = try catalogue { $0.modules[0].live = PackVersion("2.0") }.signed(by: [key])
        #expect(await errorCode { try open(other, after: state) } == .rolledBack)
    }

    @Test("A catalogue is refused from its expiry on")
    func freeze() async throws {
        let bytes = try catalogue().signed(by: [key])
        #expect(await errorCode { try open(bytes, at: now.addingTimeInterval(59)) } == nil)
        #expect(await errorCode { try open(bytes, at: now.addingTimeInterval(60)) } == .expired)
    }

    @Test("An untrusted or changed catalogue is refused")
    func untrusted() async throws {
        let foreign = try catalogue().signed(by: [.generate()])
        #expect(await errorCode { try open(foreign) } == .untrusted)
        var envelope = try JSONDecoder().decode(SignedEnvelope.self, from: catalogue().signed(by: [key]))
        envelope.payload = try JSONDecoder().decode(SignedEnvelope.self, from: foreign).payload
        let payload = try #require(Data(base64Encoded: envelope.payload))
        envelope.payload = Data(
            String(decoding: payload, as: UTF8.self).replacing("\"serial\":7", with: "\"serial\":9").utf8
        )
        .base64EncodedString()
        let changed = try JSONEncoder().encode(envelope)
        #expect(await errorCode { try open(changed) } == .untrusted)
    }

    @Test("A newer format is reported as such, and broken JSON with its position")
    func formats() async throws {
        func signed(_ json: String) throws -> Data {
            try JSONEncoder().encode(SignedEnvelope(Data(json.utf8), type: Catalogue.mediaType, signedBy: [key]))
        }
        let newer = try signed(#"{"formatVersion": 2, "all": "different"}"#)
        #expect(await errorCode { try open(newer) } == .unsupportedVersion)
        let error = #expect(throws: PackError.self) {
            try open(signed(#"{"formatVersion": 1, "serial": 1, "issued": "2026-11-21", "expires": 5, "modules": []}"#))
        }
        #expect(error?.code == .badAnswer)
        #expect(error?.message.contains("issued") == true, "\(String(describing: error))")
        for bytes in [Data(), Data("[]".utf8), Data("{}".utf8), try signed("")] {
            #expect(await errorCode { try open(bytes) } == .badAnswer)
        }
    }

    @Test("A catalogue that contradicts itself is neither signed nor accepted")
    func contradictions() async throws {
        let changes: [(String, (inout Catalogue) throws -> Void)] = [
            ("expires", { $0.expires = $0.issued }),
            ("listed twice", { $0.modules.append($0.modules[0]) }),
            ("listed twice", { $0.modules[0].releases.append($0.modules[0].releases[0]) }),
            ("live version", { $0.modules[0].live = PackVersion("9") }),
            ("rollout version", { $0.modules[0].rollout?.version = try Sample.version("9") }),
            ("per cent", { $0.modules[0].rollout?.percentage = 101 }),
            ("per cent", { $0.modules[0].rollout?.percentage = -0.1 }),
            ("size", { $0.modules[0].releases[0].archive.size = -1 }),
            ("size", { $0.modules[0].releases[0].installedSize = -1 }),
            ("SHA-256", { $0.modules[0].releases[0].archive.digest = PackDigest(of: Data(), .md5) }),
            ("SHA-256", { $0.modules[0].releases[0].manifest = PackDigest(of: Data(), .md5) }),
            ("SHA-256", { $0.modules[0].releases[1].patches?[0].base = PackDigest(of: Data(), .md5) }),
            ("starts from", { $0.modules[0].releases[1].patches?[0].from = try Sample.version("2") }),
        ]
        for (word, change) in changes {
            let broken = try catalogue(change: change)
            let error = #expect(throws: PackError.self) { try broken.signed(by: [key]) }
            #expect(error?.message.contains(word) == true, "\(String(describing: error))")
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            let envelope = try SignedEnvelope(encoder.encode(broken), type: Catalogue.mediaType, signedBy: [key])
            let bytes = try JSONEncoder().encode(envelope)
            #expect(await errorCode { try open(bytes) } == .badAnswer, "\(word)")
        }
    }

    private func catalogue(change: (inout Catalogue) throws -> Void) throws -> Catalogue {
        try catalogue(serial: 7, change)
    }

    @Test("The source offers the catalogue's contents, with addresses relative to the catalogue's own")
    func offers() async throws {
        let catalogue = try catalogue { $0.modules[0].rollout?.percentage = 100 }
        let bytes = try catalogue.signed(by: [key])
        let origin = try ScriptedOrigin { $0.path == "/packs/catalogue.json" ? .ok(bytes) : .status(404) }
        let now = now
        let source = CatalogueSource(origin.url("/packs/catalogue.json"), trusting: [key.trusted], now: { now })
        let answer = try await source.check(Sample.inquiry())
        let offer = try #require(answer.offers.first)
        #expect(offer.version == PackVersion("2.0"))
        #expect(offer.archive?.url == origin.url("/packs/shop/2.0.zip"))
        #expect(offer.archive?.size == 1000)
        #expect(offer.manifest == PackDigest(of: Data("manifest 2.0".utf8)))
        #expect(offer.installedSize == 5000)
        #expect(offer.isExact && offer.isActive)
        #expect(offer.minimumVersion == PackVersion("0.9"))
        #expect(offer.minimumAppVersion == PackVersion("2.0"))
        #expect(offer.network == .unmetered)
        #expect(offer.baseURLs == [try Sample.url("https://shop.example/app/")])
        #expect(offer.released == now)
        #expect(offer.patches.map(\.kind) == [.content])
        #expect(offer.patches.first?.from == PackVersion("1.0"))
        #expect(offer.patches.first?.base == PackDigest(of: Data("manifest 1.0".utf8)))
        #expect(offer.patches.first?.artifact.url == origin.url("/packs/shop/1.0-2.0.patch"))
        #expect(answer.catalogueState?.serial == 7)
        var later = try Sample.inquiry()
        later.catalogueState = CatalogueState(serial: 8, digest: PackDigest(of: Data()))
        let warned = later
        #expect(await errorCode { try await source.check(warned) } == .rolledBack)
        let lost = CatalogueSource(origin.url("/lost.json"), trusting: [key.trusted], now: { now })
        #expect(await errorCode { try await lost.check(Sample.inquiry()) } == .refused)
    }

    @Test("A client outside the rollout gets the live version; without one, or if the module is off, nothing to fetch")
    func live() throws {
        let base = try Sample.url("https://cdn.example/c.json")
        var module = try catalogue().modules[0]
        module.rollout?.percentage = 0
        #expect(try module.offer(to: "i", having: nil, from: base).archive?.url.lastPathComponent == "1.0.zip")
        module.live = nil
        let offer = try module.offer(to: "i", having: nil, from: base)
        #expect(offer.version == nil && offer.archive == nil)
        module.isActive = false
        #expect(try !module.offer(to: "i", having: nil, from: base).isActive)
    }

    @Test(
        "A version that was taken back is switched off, unless the client gets another one or has that of the rollout",
        arguments: [
            ("1.0", nil, nil, false), ("1.0", nil, "2.0", false), ("2.0", nil, "2.0", true), ("1.0", "2.0", nil, true),
            ("9.9", nil, nil, true), (nil, nil, nil, true),
        ] as [(String?, String?, String?, Bool)]
    )
    func takenBack(installed: String?, live: String?, rollout: String?, isActive: Bool) throws {
        var module = try catalogue().modules[0]
        module.live = live.flatMap { PackVersion($0) }
        module.rollout = try rollout.map { Rollout(try Sample.version($0), percentage: 0, salt: "s") }
        let base = try Sample.url("https://cdn.example/c.json")
        let offer = try module.offer(to: "i", having: installed.flatMap { PackVersion($0) }, from: base)
        #expect(offer.isActive == isActive)
        #expect(offer.version?.description == live)
    }

    @Test("A catalogue cannot send clients to files on their own machine")
    func foreignAddress() async throws {
        let base = try Sample.url("https://cdn.example/c.json")
        var module = try catalogue().modules[0]
        module.releases[0] = try release("1.0", url: "file:///etc/passwd")
        module.rollout = nil
        #expect(await errorCode { try module.offer(to: "i", having: nil, from: base) } == .badAnswer)
    }

    @Test("An answer that is no catalogue is refused with its URL")
    func otherAnswer() async throws {
        let url = try Sample.url("https://cdn.example/releases.json?token=s3cret")
        for body in [#"{"modules": []}"#, "<title>Sign in to this network</title>"] {
            let source = CatalogueSource(url, trusting: [key.trusted], fetcher: CannedFetcher(body))
            let error = await #expect(throws: PackError.self) { try await source.check(Sample.inquiry()) }
            #expect(error?.code == .badAnswer)
            let beginning = "the answer of https://cdn.example/releases.json cannot be used as a catalogue: the signed "
            #expect(error?.message.hasPrefix(beginning) == true, "\(error?.message ?? "")")
        }
    }

    @Test("A catalogue without end is cut off")
    func endless() async throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { _ in
            .stream([.bytes(Data(count: 5000)), .bytes(Data(count: 5000)), .wait(gate)])
        }
        var source = CatalogueSource(origin.url(), trusting: [key.trusted])
        source.maximumSize = 9000
        let bounded = source
        #expect(await errorCode { try await bounded.check(Sample.inquiry()) } == .tooLarge)
        await origin.waitForAbandonedRequests(1)
    }
}
