import Foundation
import HTTPTypes
import NIOCore
import Testing
import WaystationPacks

@testable import UpdateServer

@Suite("Answers for clients of the older formats")
struct ClientAnswersTests {
    private let platform: Platform

    init() throws { platform = try Platform() }

    private static let request = """
        {"data":{"appCode":"shop","appVer":"2.0","platform":"linux",
         "h5vers":[{"moduleId":"shop","moduleVer":"1.0","isActive":1}]}}
        """

    @Test("many modules: a client for whose version a patch exists gets it, with an address on the requested host")
    func modules() async throws {
        try await platform.publish("1.0", "1.1")
        try await platform.server().ask { client async throws in
            let response = try await client.execute(
                uri: "/modules",
                method: .post,
                body: ByteBuffer(string: Self.request)
            )
            #expect(response.status == .ok)
            let answer = try JSONDecoder().decode(ModuleListAnswer.self, from: Data(response.body.readableBytesView))
            let module = try #require(answer.modules.first)
            #expect(module.mode == .patch)
            #expect(module.patchURL == "http://localhost/packs/shop/1.1/patches/1.0-zip.patch")
            #expect(module.packageURL == "http://localhost/packs/shop/1.1/shop-1.1.zip")
        }
    }

    @Test("behind a proxy the addresses are those of the proxy")
    func publicURL() async throws {
        try await platform.publish("1.0")
        try await platform.server { $0.publicURL = URL(string: "https://packs.example/r") }.ask {
            client in
            let response = try await client.execute(uri: "/package", method: .get)
            let answer = try JSONDecoder().decode(SinglePackAnswer.self, from: Data(response.body.readableBytesView))
            #expect(answer.packageURL == "https://packs.example/r/packs/shop/1.0/shop-1.0.zip")
            #expect(answer.version?.description == "1.0")
        }
    }

    @Test(
        "a body that is not a request for modules is refused",
        arguments: ["", "{}", "[]", "{\"data\":[]}", "{\"data\":{\"h5vers\":3}}"]
    )
    func badModules(body: String) async throws {
        try await platform.server().ask { client async throws in
            let response = try await client.execute(uri: "/modules", method: .post, body: ByteBuffer(string: body))
            #expect(response.status == .badRequest)
            #expect(response.problem == "badRequest")
        }
    }

    @Test("a request of more than a MiB is refused")
    func tooLarge() async throws {
        try await platform.server().ask { client async throws in
            let response = try await client.execute(
                uri: "/modules",
                method: .post,
                body: ByteBuffer(repeating: 0x20, count: (1 << 20) + 1)
            )
            #expect(response.status == .contentTooLarge)
        }
    }

    @Test("one pack: the request names the module or there is only one; otherwise it is refused")
    func package() async throws {
        try await platform.server().ask { client async throws in
            func status(_ query: String) async throws -> HTTPResponse.Status {
                try await client.execute(uri: "/package\(query)", method: .get).status
            }
            #expect(try await status("") == .badRequest)
            #expect(try await status("?module=shop") == .notFound)
            try await platform.publish("1.0")
            #expect(try await status("?packageVersion=0.9&appVer=2.0&platform=linux") == .ok)
            #expect(try await status("?packageVersion=one") == .badRequest)
            #expect(try await status("?module=..%2f") == .badRequest)
            try await platform.publish("1.0", of: "cart")
            #expect(try await status("") == .badRequest)
            #expect(try await status("?module=cart") == .ok)
        }
    }
}
