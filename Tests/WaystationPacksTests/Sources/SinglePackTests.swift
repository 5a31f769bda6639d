import Foundation
import HTTPTypes
import Testing
import WaystationTesting

@testable import WaystationPacks

@Suite struct SinglePackTests {
    private let base = "https://update.example/check"

    private func offer(_ json: String, installed: String? = "1.0") async throws -> ModuleOffer {
        let module = try Sample.module("app")
        let source = SinglePackSource(try Sample.url(base), module: module, fetcher: CannedFetcher(json))
        let inquiry = try Sample.inquiry([.init(module, version: installed.flatMap { PackVersion($0) })])
        return try #require(try await source.check(inquiry).offers.first)
    }

    @Test("Every member of the answer reaches the offer")
    func allMembers() async throws {
        let offer = try await offer(
            """
            {"updatePackageVersion": "1.10.0", "updatePackageUrl": "https://cdn.example/a.zip", "miniVersion": "1.8",
             "networkType": "wifi", "status": 1, "isPatch": false, "whitelist": ["https://shop.example/app/", "x"]}
            """
        )
        #expect(offer.version == PackVersion("1.10"))
        #expect(offer.archive == Artifact(url: try Sample.url("https://cdn.example/a.zip")))
        #expect(offer.patches.isEmpty)
        #expect(offer.minimumVersion == PackVersion("1.8"))
        #expect(offer.network == .unmetered)
        #expect(offer.whitelist == ["https://shop.example/app/", "x"])
        #expect(offer.isActive && !offer.isExact)
    }

    @Test(
        "Numbers may be strings, strings may be numbers, and booleans may have any form",
        arguments: [
            (#""status": "2""#, #""status": 2"#), (#""isPatch": 1"#, #""isPatch": true"#),
            (#""isPatch": "true""#, #""isPatch": true"#), (#""isPatch": "1""#, #""isPatch": true"#),
            (#""isPatch": "YES""#, #""isPatch": true"#), (#""isPatch": 0"#, #""isPatch": false"#),
            (#""isPatch": "0""#, #""isPatch": false"#), (#""isPatch": null"#, #""isPatch": false"#),
            (#""isPatch": """#, #""isPatch": false"#), (#""miniVersion": 3"#, #""miniVersion": "3""#),
            (#""miniVersion": 1.5"#, #""miniVersion": "1.5""#), (#""miniVersion": """#, #""miniVersion": null"#),
            (#""networkType": 1"#, #""networkType": "1""#), (#""networkType": null"#, #""networkType": """#),
            (#""whitelist": "https://a/, https://b/""#, #""whitelist": ["https://a/", "https://b/"]"#),
            (#""whitelist": "https://a/\nhttps://b/""#, #""whitelist": ["https://a/", "https://b/"]"#),
            (#""whitelist": null"#, #""whitelist": """#),
            (#""updatePackageVersion": 2"#, #""updatePackageVersion": " 2 ""#),
        ]
    )
    func forms(one: String, other: String) throws {
        let answers = try [one, other].map {
            try JSONDecoder().decode(SinglePackAnswer.self, from: Data("{\($0)}".utf8))
        }
        #expect(answers[0] == answers[1])
        let opposite = try JSONDecoder().decode(SinglePackAnswer.self, from: Data("{}".utf8))
        #expect(!(one.contains("\"status\"") || one.contains("YES")) || answers[0] != opposite)
    }

    @Test(
        "A value without such a form causes an error that names the member",
        arguments: [
            (#"{"status": "many"}"#, "status"), (#"{"isPatch": "perhaps"}"#, "isPatch"),
            (#"{"status": 1.5}"#, "status"),
            (#"{"miniVersion": "v1"}"#, "miniVersion"), (#"{"updatePackageUrl": ["a"]}"#, "updatePackageUrl"),
            (#"{"whitelist": {"a": 1}}"#, "whitelist"), ("[]", ""), ("", ""), ("<html>", ""), ("{", ""),
            (#"{"updatePackageVersion": "2", "updatePackageUrl": "file:///etc/passwd"}"#, "Url"),
            (#"{"updatePackageVersion": "2", "updatePackageUrl": "ftp://a.example/b"}"#, "Url"),
        ]
    )
    func errors(json: String, name: String) async throws {
        let error = await #expect(throws: PackError.self) { try await offer(json) }
        #expect(error?.code == .badAnswer)
        #expect(error?.message.contains(name) == true || name.isEmpty, "\(String(describing: error))")
    }

    @Test("An empty answer offers nothing")
    func empty() async throws {
        let offer = try await offer("{}")
        #expect(offer == ModuleOffer(try Sample.module("app")))
    }

    @Test("A patch is against the version that the client reported, and an address may be relative")
    func patch() async throws {
        let offer = try await offer(
            #"{"updatePackageVersion": "1.1", "updatePackageUrl": "/files/1.0-1.1.patch", "isPatch": true}"#
        )
        #expect(offer.archive == nil)
        let artifact = Artifact(url: try Sample.url("https://update.example/files/1.0-1.1.patch"))
        #expect(offer.patches == [PatchOffer(.zip, from: PackVersion("1.0"), artifact: artifact)])
    }

    @Test(
        "A status that is absent or has no meaning here is an update: 0 switches nothing off",
        arguments: ["{}", #"{"status": null}"#, #"{"status": ""}"#, #"{"status": 0}"#, #"{"status": "0"}"#]
            + [1, -1, 7, Int.max].map { #"{"status": \#($0)}"# }
    )
    func update(json: String) async throws {
        #expect(try await offer(json) == ModuleOffer(try Sample.module("app")))
    }

    @Test("status: 2 orders a rollback, 3 switches off; the app defines other meanings")
    func status() async throws {
        #expect(try await offer(#"{"status": 2}"#).isExact)
        #expect(try await offer(#"{"status": 3}"#).isActive == false)
        var source = SinglePackSource(
            try Sample.url(base),
            module: try Sample.module("app"),
            fetcher: CannedFetcher(#"{"status": 0, "networkType": "LAN"}"#)
        )
        source.meanings[0] = .off
        source.networkTypes["lan"] = .unmetered
        let offer = try await source.check(Sample.inquiry()).offers.first
        #expect(offer?.isActive == false)
        #expect(offer?.network == .unmetered)
    }

    @Test(
        "networkType has names for any network and for an unmetered one; others are for the app's probe",
        arguments: [
            ("all", "any"), ("0", "any"), ("WiFi", "unmetered"), ("1", "unmetered"), ("wired", "wired"), ("5g", "5g"),
        ]
    )
    func networkType(text: String, condition: String) async throws {
        #expect(try await offer(#"{"networkType": "\#(text)"}"#).network == NetworkCondition(condition))
    }

    @Test("The short form of the source accepts the app's meanings of status numbers")
    func shortForm() throws {
        let url = try Sample.url(base)
        let module = try Sample.module("app")
        let source: SinglePackSource = .singlePack(
            at: url,
            module: module,
            meanings: [0: .off],
            networkTypes: ["2": .any]
        )
        let answer = SinglePackAnswer(networkType: "2", status: 0)
        let offer = try source.offer(answer, installed: nil, from: url)
        #expect(!offer.isActive)
        #expect(offer.network == .any)
        let standard: SinglePackSource = .singlePack(at: url, module: module)
        #expect(standard.meanings == SinglePackSource.standardMeanings)
        #expect(try standard.offer(answer, installed: nil, from: url).isActive)
    }

    @Test("The request to the server has the app and the installed version")
    func request() async throws {
        let module = try Sample.module("app")
        let fetcher = CannedFetcher("{}")
        let source = SinglePackSource(try Sample.url(base), module: module, fetcher: fetcher)
        let inquiry = try Sample.inquiry([.init(module, version: PackVersion("1.2"))])
        _ = try await source.check(inquiry)
        _ = try await source.check(inquiry.forgettingVersion(of: module))
        #expect(
            fetcher.requests.map(\.url.absoluteString) == [
                "\(base)?appCode=shop&appVer=2.1&platform=linux&packageVersion=1.2",
                "\(base)?appCode=shop&appVer=2.1&platform=linux",
            ]
        )
    }

    @Test("The client can read the example server's answer")
    func roundTrip() throws {
        let answer = SinglePackAnswer(
            version: PackVersion("1.10.0"),
            packageURL: "https://cdn.example/a.zip",
            minimumVersion: PackVersion("1"),
            networkType: "wifi",
            status: 2,
            isPatch: true,
            whitelist: ["https://a/"]
        )
        let json = try JSONEncoder().encode(answer)
        #expect(try JSONDecoder().decode(SinglePackAnswer.self, from: json) == answer)
        let object = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
        #expect(
            object.keys.sorted() == [
                "isPatch", "miniVersion", "networkType", "status", "updatePackageUrl", "updatePackageVersion",
                "whitelist",
            ]
        )
        #expect(object["updatePackageVersion"] as? String == "1.10.0")
    }

    @Test("An error status is reported with its Retry-After, and a Retry-After with an answer is passed on")
    func retryAfter() async throws {
        let module = try Sample.module("app")
        let url = try Sample.url(base)
        let busy = SinglePackSource(
            url,
            module: module,
            fetcher: CannedFetcher("", status: 503, fields: [.retryAfter: "7"])
        )
        let error = await #expect(throws: PackError.self) { try await busy.check(Sample.inquiry()) }
        #expect(error?.code == .refused && error?.retryAfter == .seconds(7))
        let calm = SinglePackSource(url, module: module, fetcher: CannedFetcher("{}", fields: [.retryAfter: "600"]))
        #expect(try await calm.check(Sample.inquiry()).retryAfter == .seconds(600))
    }
}
