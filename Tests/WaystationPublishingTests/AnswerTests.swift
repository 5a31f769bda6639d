import Foundation
import Testing
import WaystationPacks

@testable import WaystationPublishing

@Suite("Answers in the older formats")
struct AnswerTests {
    private let publisher: Publisher
    private let base: URL

    init() throws {
        publisher = try Publisher()
        base = try #require(URL(string: "https://cdn.example/updates"))
    }

    private func list(_ modules: [(String, String?)], appVersion: String = "2.0") async throws -> ModuleListAnswer {
        let request = ModuleListRequest(
            appCode: "shop",
            appVersion: appVersion,
            platform: "linux",
            modules: try modules.map {
                ModuleListRequest.Module(try module($0), version: $1.flatMap { PackVersion($0) }, isActive: true)
            }
        )
        return try await publisher.releases.index().answer(request, at: base)
    }

    private func single(_ installed: String?, appVersion: String? = "2.0") async throws -> SinglePackAnswer? {
        try await publisher.releases.index().answer(
            SinglePackRequest(
                module(),
                installed: installed.flatMap { PackVersion($0) },
                appVersion: appVersion.flatMap { PackVersion($0) }
            ),
            at: base
        )
    }

    @Test("a client without the module gets the whole pack, and so does one with a version older than the patch's")
    func modes() async throws {
        try await publisher.publish("1.0")
        let release = try await publisher.publish("1.1").release
        for (installed, mode) in [(nil, .whole), ("0.9", .whole), ("1.0", .patch)]
            as [(String?, ModuleListAnswer.Module.Mode)]
        {
            let answer = try #require(try await list([("shop", installed)]).modules.first)
            #expect(answer.mode == mode)
            #expect(answer.isActive)
            #expect(answer.packageURL == "https://cdn.example/updates/packs/shop/1.1/shop-1.1.zip")
            #expect(answer.packageDigest == release.archive.md5)
            #expect((answer.patchURL == nil) == (mode == .whole))
        }
        let patch = try #require(release.zipPatch(from: version("1.0")))
        let answer = try #require(try await list([("shop", "1.0")]).modules.first)
        #expect(answer.patchURL == "https://cdn.example/updates/packs/shop/1.1/patches/1.0-zip.patch")
        #expect(answer.patchDigest == patch.md5)
        #expect(try publisher.bytes(patch.path).count == patch.size)
    }

    @Test("a client that is up to date, or whose app is too old, gets nothing to fetch")
    func nothing() async throws {
        let pack = try publisher.pack("1.1", minimumAppVersion: "2.0")
        try await publisher.releases.publish(zip: pack, signedBy: [publisher.key])
        for (installed, app) in [("1.1.0", "2.0"), (nil, "1.9")] as [(String?, String)] {
            let answer = try #require(try await list([("shop", installed)], appVersion: app).modules.first)
            #expect(answer.isActive)
            #expect(answer.packageURL == nil)
            #expect(answer.mode == nil)
        }
        #expect(try await list([("shop", nil)], appVersion: "of today").modules.first?.mode == .whole)
        let answer = try #require(try await single(nil, appVersion: "1.9"))
        #expect(answer.version == nil)
        #expect(answer.packageURL == nil)
    }

    @Test("an answer has all published modules, including those that the client does not name, and no others")
    func modules() async throws {
        try await publisher.publish("1.0", of: "cart")
        try await publisher.publish("1.0", of: "home")
        try await publisher.releases.disable(module("home"), signedBy: [publisher.key])
        let answer = try await list([("cart", nil), ("unknown", "1.0")])
        #expect(answer.modules.map(\.module.description) == ["cart", "home"])
        #expect(answer.modules.map(\.isActive) == [true, false])
        #expect(answer.modules.last?.packageURL == nil)
    }

    @Test("the client's own sources understand the answers")
    func understood() async throws {
        try await publisher.publish("1.0")
        try await publisher.publish("1.1")
        let text = try JSONEncoder().encode(try await list([("shop", "1.0")]))
        let read = try #require(try JSONDecoder().decode(ModuleListAnswer.self, from: text).modules.first)
        #expect(read == (try await list([("shop", "1.0")]).modules.first))
        let one = try #require(try await single("1.0"))
        #expect(try JSONDecoder().decode(SinglePackAnswer.self, from: JSONEncoder().encode(one)) == one)
    }

    @Test(
        "one pack: the patch for the kept versions, otherwise the zip; status 2 orders a rollback",
        arguments: [
            (nil, "shop-1.1.zip", false, 1), ("0.9", "shop-1.1.zip", false, 1), ("1.0", "1.0-zip.patch", true, 1),
            ("1.1", "shop-1.1.zip", false, 1), ("1.2", "shop-1.1.zip", false, 2),
        ] as [(String?, String, Bool, Int)]
    )
    func onePack(installed: String?, file: String, isPatch: Bool, status: Int) async throws {
        for number in ["1.0", "1.1", "1.2"] { try await publisher.publish(number) }
        try await publisher.releases.rollBack(module(), signedBy: [publisher.key])
        let answer = try #require(try await single(installed))
        #expect(answer.version?.description == "1.1")
        #expect(answer.packageURL?.hasSuffix("/" + file) == true)
        #expect(answer.isPatch == isPatch)
        #expect(answer.status == status)
        #expect(answer.whitelist == ["https://shop.example/shop/"])
        #expect(answer.minimumVersion == nil)
    }

    @Test(
        "a network condition is in every format, with the name that its clients know",
        arguments: [("unmetered", "wifi"), ("wired", "wired"), ("x-office", "x-office")]
    )
    func network(name: String, networkType: String) async throws {
        let condition = NetworkCondition(name)
        let pack = try publisher.pack("1.0")
        let publication = try await publisher.releases.publish(zip: pack, network: condition, signedBy: [publisher.key])
        #expect(try publication.index[module()]?.network == condition)
        #expect(try publisher.catalogue().modules.first?.network == condition)
        #expect(try await single(nil)?.networkType == networkType)
        #expect(try await list([("shop", nil)]).modules.first?.networkType == networkType)
        // The client's own sources read the intended condition.
        let source: SinglePackSource = .singlePack(at: base, module: try module())
        #expect(source.networkTypes[networkType] ?? NetworkCondition(networkType) == condition)

        // The condition stays with the next publication, until it is removed.
        try await publisher.publish("1.1")
        #expect(try publisher.catalogue().modules.first?.network == condition)
        try await publisher.releases.setNetwork(.any, of: module(), signedBy: [publisher.key])
        #expect(try publisher.catalogue().modules.first?.network == nil)
        #expect(try await single(nil)?.networkType == "any")
        #expect(try await list([("shop", nil)]).modules.first?.networkType == nil)
    }

    @Test(
        "a network condition that no client knows is refused, and nothing is published",
        arguments: [
            "", "unmeterd", "Unmetered", "wifi", "x-", "x-A", "x-a b", "x-\(String(repeating: "a", count: 63))",
        ]
    )
    func unknownNetwork(name: String) async throws {
        let condition = NetworkCondition(name)
        let pack = try publisher.pack("1.0")
        #expect(
            await errorCode {
                try await publisher.releases.publish(zip: pack, network: condition, signedBy: [publisher.key])
            } == .invalidArgument
        )
        #expect(try await publisher.releases.index().modules.isEmpty)
        #expect(
            await errorCode {
                try await publisher.releases.setNetwork(.wired, of: module(), signedBy: [publisher.key])
            } == .notInstalled
        )
        try await publisher.publish("1.0")
        #expect(
            await errorCode {
                try await publisher.releases.setNetwork(condition, of: module(), signedBy: [publisher.key])
            } == .invalidArgument
        )
    }

    @Test("one pack: status 3 switches off, a minimum is stated, an unknown module has no answer")
    func onePackSwitches() async throws {
        #expect(try await single(nil) == nil)
        try await publisher.publish("1.0")
        try await publisher.releases.setMinimumVersion(version("1.0"), of: module(), signedBy: [publisher.key])
        #expect(try await single("0.9")?.minimumVersion?.description == "1.0")
        try await publisher.releases.disable(module(), signedBy: [publisher.key])
        #expect(try await single("1.0") == SinglePackAnswer(status: 3))
        #expect(SinglePackSource.standardMeanings[3] == .off)
    }

    @Test("clients without an install ID do not get a rollout")
    func rollout() async throws {
        try await publisher.publish("1.0")
        try await publisher.publish("1.1", rollout: 99)
        #expect(try await list([("shop", nil)]).modules.first?.packageURL?.hasSuffix("shop-1.0.zip") == true)
        #expect(try await single(nil)?.version?.description == "1.0")
    }
}
