import Foundation
import HTTPTypes
import Testing
import WaystationTesting

@testable import WaystationPacks

@Suite struct ModuleListTests {
    private let md5 = "900150983cd24fb0d6963f7d28e17f72"

    private func check(_ json: String, installed: String? = "1.4") async throws -> UpdateAnswer {
        let source = ModuleListSource(try Sample.url("https://update.example/api/list"), fetcher: CannedFetcher(json))
        let version = installed.flatMap { PackVersion($0) }
        return try await source.check(Sample.inquiry([.init(Sample.module("cart"), version: version)]))
    }

    @Test("The posted list has exactly the members of the format")
    func request() async throws {
        let origin = try ScriptedOrigin { _ in .ok(#"{"resultData":[]}"#) }
        let inquiry = try Sample.inquiry([
            .init(Sample.module("cart"), version: PackVersion("1.4"), isActive: true),
            .init(Sample.module("home"), isActive: false),
        ])
        var source = ModuleListSource(origin.url("/api"))
        source.fields["X-Key"] = "secret"
        #expect(try await source.check(inquiry).offers.isEmpty)
        let request = try #require(origin.requests.first)
        #expect(request.method == "POST")
        #expect(request.value(of: "Content-Type") == "application/json")
        #expect(request.value(of: "X-Key") == "secret")
        let expected = """
            {"data":{"appCode":"shop","appVer":"2.1","platform":"linux","h5vers":[
              {"moduleId":"cart","moduleVer":"1.4","isActive":true},
              {"moduleId":"home","moduleVer":"","isActive":false}]}}
            """
        let posted = try JSONSerialization.jsonObject(with: request.body) as? NSDictionary
        #expect(posted == (try JSONSerialization.jsonObject(with: Data(expected.utf8)) as? NSDictionary))
        #expect(try JSONDecoder().decode(ModuleListRequest.self, from: request.body) == ModuleListRequest(inquiry))
    }

    @Test(
        "A server reads isActive and versions in every form",
        arguments: [
            (#""isActive": 1, "moduleVer": "1.5""#, true), (#""isActive": "false", "moduleVer": 1.5"#, false),
            (#""isActive": 0, "moduleVer": " 1.5""#, false), (#""moduleVer": "1.5.0""#, true),
        ]
    )
    func requestForms(members: String, isActive: Bool) throws {
        let json = #"{"data": {"appCode": 7, "h5vers": [{"moduleId": "cart", \#(members)}]}}"#
        let request = try JSONDecoder().decode(ModuleListRequest.self, from: Data(json.utf8))
        #expect(request.appCode == "7")
        let cart = try Sample.module("cart")
        #expect(request.modules == [.init(cart, version: PackVersion("1.5"), isActive: isActive)])
    }

    @Test("An entry may state the network for downloads and the URLs to intercept, in the forms of the other format")
    func additions() async throws {
        let offers = try await check(
            """
            {"resultData": [{"moduleId": "cart", "networkType": "WiFi", "whitelist": "https://a/, https://b/"},
                            {"moduleId": "home", "networkType": 5, "whitelist": ["https://c/"]},
                            {"moduleId": "old", "networkType": null}]}
            """
        ).offers
        #expect(offers.map(\.network) == [.unmetered, NetworkCondition("5"), .any])
        #expect(offers.map(\.whitelist) == [["https://a/", "https://b/"], ["https://c/"], nil])
        var entry = ModuleListAnswer.Module(try Sample.module("cart"))
        let plain = try JSONEncoder().encode(entry)
        #expect(!String(decoding: plain, as: UTF8.self).contains("networkType"))
        #expect(!String(decoding: plain, as: UTF8.self).contains("whitelist"))
        entry.networkType = "wifi"
        entry.whitelist = ["https://a/"]
        let written = try JSONEncoder().encode(entry)
        #expect(try JSONDecoder().decode(ModuleListAnswer.Module.self, from: written) == entry)
    }

    @Test("mode 1 is the whole pack with its digest, and without a version")
    func whole() async throws {
        let answer = try await check(
            """
            {"resultData": [{"moduleId": "cart", "packageUrl": "https://cdn.example/cart.zip", "packageMD5": "\(md5)",
              "patchUrl": "https://cdn.example/cart.patch", "patchMD5": "", "mode": 1, "isActive": true}]}
            """
        )
        let offer = try #require(answer.offers.first)
        #expect(offer.version == nil)
        #expect(offer.archive == Artifact(url: try Sample.url("https://cdn.example/cart.zip"), digest: PackDigest(md5)))
        #expect(offer.patches.isEmpty)
        #expect(offer.isExact && offer.isActive)
    }

    @Test(
        "mode 2 is the patch against the version that the client reported; the whole pack stays on offer",
        arguments: ["2", "\"2\""]
    )
    func patch(mode: String) async throws {
        let answer = try await check(
            """
            {"resultData": [{"moduleId": "cart", "packageUrl": "cart.zip", "packageMD5": "\(md5)",
              "patchUrl": "cart.patch", "patchMD5": "\(md5.uppercased())", "mode": \(mode), "isActive": 1}]}
            """
        )
        let offer = try #require(answer.offers.first)
        let digest = PackDigest(md5)
        #expect(offer.archive?.url.absoluteString == "https://update.example/api/cart.zip")
        let artifact = Artifact(url: try Sample.url("https://update.example/api/cart.patch"), digest: digest)
        #expect(offer.patches == [PatchOffer(.zip, from: PackVersion("1.4"), result: digest, artifact: artifact)])
    }

    @Test(
        "isActive false, in any form, switches the pack off",
        arguments: ["false", "0", "\"false\"", "\"0\""]
    )
    func inactive(value: String) async throws {
        let answer = try await check(#"{"resultData": [{"moduleId": "cart", "isActive": \#(value)}]}"#)
        #expect(answer.offers.first?.isActive == false)
    }

    @Test("A missing list counts as an empty one", arguments: ["{}", #"{"resultData": null}"#, #"{"resultData": []}"#])
    func nothing(json: String) async throws {
        let answer = try await check(json)
        #expect(answer.offers.isEmpty && answer.problems.isEmpty)
    }

    @Test("An entry that cannot be read does not affect the others, and is reported with its position")
    func oneBadEntry() async throws {
        let answer = try await check(
            """
            {"resultData": [{"moduleId": "../etc"}, {"moduleId": "a", "mode": 3}, {"mode": 1}, 7,
              {"moduleId": "b", "packageMD5": "short"}, {"moduleId": "c", "packageUrl": "file:///etc/passwd"},
              {"moduleId": "cart", "packageUrl": "x.zip"}, {"moduleId": "cart", "packageUrl": "y.zip"}]}
            """
        )
        #expect(answer.offers.map(\.module.description) == ["cart"])
        #expect(answer.offers.first?.archive?.url.lastPathComponent == "x.zip")
        #expect(answer.problems.count == 7)
        for (problem, word) in zip(answer.problems, ["../etc", "mode 3", "moduleId"]) {
            #expect(problem.code == .badAnswer && problem.message.contains(word), "\(problem)")
        }
        #expect(answer.problems.contains { $0.message.contains("resultData.0") })
    }

    @Test("An answer without a list is an error", arguments: ["", "[]", #"{"resultData": 5}"#, "<html></html>"])
    func wrongShape(json: String) async throws {
        #expect(await errorCode { try await check(json) } == .badAnswer)
    }

    @Test("The client can read the example server's answer, with MD5 as bare digits")
    func roundTrip() throws {
        var module = ModuleListAnswer.Module(try Sample.module("cart"), mode: .patch, isActive: false)
        module.packageURL = "https://cdn.example/cart.zip"
        module.packageDigest = PackDigest(md5)
        let json = try JSONEncoder().encode(ModuleListAnswer([module]))
        #expect(try JSONDecoder().decode(ModuleListAnswer.self, from: json).modules == [module])
        let expected = """
            {"resultData": [{"moduleId": "cart", "packageUrl": "https://cdn.example/cart.zip", "packageMD5": "\(md5)",
              "patchUrl": "", "patchMD5": "", "mode": 2, "isActive": false}]}
            """
        let written = try JSONSerialization.jsonObject(with: json) as? NSDictionary
        #expect(written == (try JSONSerialization.jsonObject(with: Data(expected.utf8)) as? NSDictionary))
    }

    @Test("An answer without end is cut off")
    func endless() async throws {
        var source = ModuleListSource(try Sample.url("https://a.example/"), fetcher: CannedFetcher(Data(count: 101)))
        source.maximumAnswerSize = 100
        let bounded = source
        #expect(await errorCode { try await bounded.check(Sample.inquiry()) } == .tooLarge)
    }
}
