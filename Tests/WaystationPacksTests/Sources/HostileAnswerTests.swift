import Foundation
import Testing
import WaystationHTTP
import WaystationTestSupport

@testable import WaystationPacks

@Suite struct HostileAnswerTests {
    private static let single = """
        {"updatePackageVersion": "1.10.0", "updatePackageUrl": "https://cdn.example/a.zip", "miniVersion": 1.8,
         "networkType": 1, "status": "1", "isPatch": 0, "whitelist": "https://shop.example/app/, https://b/"}
        """
    private static let list = """
        {"resultData": [{"moduleId": "cart", "packageUrl": "cart.zip", "packageMD5": "900150983cd24fb0d6963f7d28e17f72",
          "patchUrl": "cart.patch", "patchMD5": "", "mode": "2", "isActive": 1}, {"moduleId": 7, "mode": null}]}
        """

    /// Changes, removes, duplicates and inserts bytes at random places.
    private func mutated(_ bytes: Data, _ generator: inout SeededGenerator) -> Data {
        let words = [
            "null", "-1", "1e999", "9223372036854775808", "[", "{", "\"", "\\u0000", "true", "\u{FF}", "]}", "1.5",
        ]
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
            let index = bytes.startIndex + Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
            case 1: bytes.removeSubrange(index..<min(bytes.endIndex, index + Int.random(in: 1...20, using: &generator)))
            case 2: bytes.insert(contentsOf: bytes[index..<min(bytes.endIndex, index + 20)], at: index)
            default: bytes.insert(contentsOf: Data((words.randomElement(using: &generator) ?? "").utf8), at: index)
            }
        }
        return bytes
    }

    @Test("20,000 changed answers are read or refused with a named error", arguments: [UInt64](1...4))
    func wireFormats(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let url = try Sample.url("https://update.example/")
        let module = try Sample.module("app")
        let inquiry = try Sample.inquiry([.init(module, version: PackVersion("1.0"))])
        var refused = 0
        for _ in 0..<2_500 {
            let answers = [Self.single, Self.list].map { mutated(Data($0.utf8), &generator) }
            let single = SinglePackSource(url, module: module, fetcher: CannedFetcher(answers[0]))
            let list = ModuleListSource(url, fetcher: CannedFetcher(answers[1]))
            for source in [single, list] as [any PackSource] {
                let code = await errorCode { try await source.check(inquiry) }
                if let code {
                    #expect(code == .badAnswer)
                    refused += 1
                }
            }
        }
        #expect((500..<4_900).contains(refused), "\(refused)")
    }

    @Test("An error shows what a server wrote escaped and cut, and keeps its advice")
    func texts() async throws {
        let hostile = "\\u001b[2J\\nforged line" + String(repeating: "a", count: 1 << 19)
        let url = try Sample.url("https://update.example/")
        let module = try Sample.module("app")
        let entries = ["\"moduleId\": \"\(hostile)\"", "\"moduleId\": \"a\", \"packageUrl\": \"ftp:\(hostile)\""]
        var problems: [PackError] = []
        for entry in entries {
            let source = ModuleListSource(url, fetcher: CannedFetcher("{\"resultData\": [{\(entry)}]}"))
            problems += try await source.check(try Sample.inquiry()).problems
        }
        for member in ["updatePackageVersion", "miniVersion"] {
            let fetcher = CannedFetcher("{\"\(member)\": \"\(hostile)\"}")
            let source = SinglePackSource(url, module: module, fetcher: fetcher)
            let error = await #expect(throws: PackError.self) { try await source.check(try Sample.inquiry()) }
            problems += [error].compactMap(\.self)
        }
        #expect(problems.count == 4)
        for problem in problems {
            #expect(problem.message.contains("\\u{1B}[2J\\nforged line"))
            #expect("\(problem)".unicodeScalars.allSatisfy { !$0.isHidden })
            #expect("\(problem)".count < 5_000)
            #expect(problem.message.count < 1_000)
        }
    }

    @Test("No changed catalogue is accepted, unless the signed bytes are unchanged", arguments: [UInt64](1...2))
    func catalogues(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let key = try SigningKey.generate()
        let catalogue = Catalogue(
            serial: 1,
            issued: Sample.moment,
            expires: Sample.moment.addingTimeInterval(60),
            modules: [.init(try Sample.module("shop"))]
        )
        let bytes = try catalogue.signed(by: [key])
        for _ in 0..<1_000 {
            let changed = mutated(bytes, &generator)
            do {
                let opened = try Catalogue.opening(changed, signedBy: [key.trusted], after: nil, now: Sample.moment)
                #expect(opened.catalogue == catalogue)
            } catch let error as PackError {
                #expect([.badAnswer, .untrusted].contains(error.code))
            }
        }
    }

    @Test("Clients refuse every mistake that a publisher signed with a named error", arguments: [UInt64](1...2))
    func signedNonsense(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let key = try SigningKey.generate()
        var module = Catalogue.Module(try Sample.module("shop"), live: PackVersion("1.0"))
        let digest = PackDigest(of: Data())
        module.releases = [
            .init(try Sample.version("1.0"), manifest: digest, archive: .init(url: "1.zip", size: 5, digest: digest))
        ]
        module.rollout = Rollout(try Sample.version("1.0"), percentage: 10, salt: "s")
        let catalogue = Catalogue(
            serial: 1,
            issued: Sample.moment,
            expires: Sample.moment.addingTimeInterval(60),
            modules: [module]
        )
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let payload = try encoder.encode(catalogue)
        for _ in 0..<1_000 {
            let nonsense = try SignedEnvelope(
                mutated(payload, &generator),
                type: Catalogue.mediaType,
                signedBy: [key]
            )
            let bytes = try JSONEncoder().encode(nonsense)
            let code = await errorCode {
                let opened = try Catalogue.opening(bytes, signedBy: [key.trusted], after: nil, now: Sample.moment)
                let base = try Sample.url("https://cdn.example/")
                for module in opened.catalogue.modules { _ = try module.offer(to: "i", having: nil, from: base) }
            }
            #expect([nil, .badAnswer, .unsupportedVersion, .expired].contains(code), "\(String(describing: code))")
        }
    }

    @Test("Of an answer with very many entries only the first are read, and the number of the others is reported")
    func manyEntries() async throws {
        let entries = Array(repeating: "0", count: 100_000).joined(separator: ",")
        let source = ModuleListSource(
            try Sample.url("https://update.example/"),
            fetcher: CannedFetcher(#"{"resultData": [\#(entries)]}"#)
        )
        let answer = try await source.check(Sample.inquiry())
        #expect(answer.offers.isEmpty)
        #expect(answer.problems.count == 1_001)
        #expect(answer.problems.last?.message.contains("99000") == true)
    }

    @Test(
        "A module that a server only names leaves nothing on the disk",
        arguments: [#""isActive": false"#, #""whitelist": ["https://a.example/"]"#]
    )
    func namedModules(member: String) async throws {
        let home = try LibraryFixture()
        let library = try home.library()
        let entries = (0..<1_200).map { #"{"moduleId": "m\#($0)", \#(member)}"# }.joined(separator: ",")
        let source = ModuleListSource(
            try Sample.url("https://update.example/"),
            fetcher: CannedFetcher(#"{"resultData": [\#(entries)]}"#)
        )
        let app = AppIdentity(code: "shop", version: PackVersion(literal: "5.0"))
        let report = try await PackUpdater(library: library, source: source, app: app).check(isForced: true)
        #expect(report.outcomes.count == 1_000)
        #expect(report.failures.isEmpty)
        #expect(report.problems.count == 1)
        #expect(library.modules.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.layout.modules).isEmpty)
    }
}
