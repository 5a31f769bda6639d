import Foundation
import HTTPTypes
import NIOCore
import Testing
import WaystationPacks
import WaystationPublishing

@testable import UpdateServer

@Suite("Changes over HTTP")
struct AdminAPITests {
    private let platform: Platform

    init() throws { platform = try Platform() }

    @Test(
        "a request without the token changes nothing, and the answer says how to send the token",
        arguments: [
            nil, "", "Bearer", "Bearer ", "Bearer wrong-token-of-some-length", "Bearer \(Platform.token)x",
            "Bearer \(Platform.token.dropLast())", "Basic \(Platform.token)", Platform.token,
            "Bearer \(Platform.token) \(Platform.token)",
        ] as [String?],
        ["publish", "rollback", "disable", "enable", "minimum", "network", "prune?keep=1"]
    )
    func tokens(authorization: String?, action: String) async throws {
        try await platform.publish("1.0", "1.1")
        let serial = try platform.catalogue().serial
        let body = try ByteBuffer(file: platform.pack("1.2"))
        try await platform.server().ask { client async throws in
            let headers: HTTPFields = authorization.map { [.authorization: $0] } ?? [:]
            let response = try await client.change(action, headers: headers, body: body)
            #expect(response.status == .unauthorized)
            #expect(response.headers[.wwwAuthenticate]?.hasPrefix("Bearer realm=") == true)
            #expect(response.problem == "unauthorized")
        }
        #expect(try platform.catalogue().serial == serial)
    }

    @Test("a pack is published, rolled back, published again, switched off and on", arguments: ["Bearer", "bearer"])
    func story(scheme: String) async throws {
        let packs = try [platform.pack("1.0"), platform.pack("1.1")]
        let headers: HTTPFields = [.authorization: "\(scheme) \(Platform.token)"]
        try await platform.server().ask { client async throws in
            func change(_ action: String, _ body: URL? = nil) async throws -> HTTPResponse.Status {
                try await client.change(action, headers: headers, body: body.map { try ByteBuffer(file: $0) }).status
            }
            func live() throws -> String? { try platform.catalogue().modules.first?.live?.description }

            #expect(try await change("publish", packs[0]) == .created)
            #expect(try await change("publish?rollout=25", packs[1]) == .created)
            #expect(try live() == "1.0")
            #expect(try platform.catalogue().modules.first?.rollout?.percentage == 25)
            #expect(try await change("publish", packs[1]) == .ok)
            #expect(try platform.catalogue().modules.first?.rollout?.percentage == 25)
            #expect(try await change("publish?rollout=100", packs[1]) == .ok)
            #expect(try live() == "1.1")
            #expect(try platform.catalogue().modules.first?.releases.last?.patches?.count == 2)
            #expect(try await change("rollback") == .ok)
            #expect(try live() == "1.0")
            #expect(try await change("rollback") == .conflict)
            #expect(try await change("publish", packs[1]) == .ok)
            #expect(try await change("rollback?version=1.0") == .ok)
            #expect(try live() == "1.0")
            #expect(try await change("disable") == .ok)
            #expect(try platform.catalogue().modules.first?.isActive == false)
            #expect(try await change("enable") == .ok)
            #expect(try platform.catalogue().modules.first?.isActive == true)
            #expect(try await change("minimum?version=1.0") == .ok)
            #expect(try platform.catalogue().modules.first?.minimumVersion?.description == "1.0")
            #expect(try await change("minimum?version=1.1") == .conflict)
            #expect(try await change("minimum") == .ok)
            #expect(try platform.catalogue().modules.first?.minimumVersion == nil)
        }
    }

    @Test("a network condition is published, changed and removed, and reaches clients in every format")
    func network() async throws {
        let packs = try [platform.pack("1.0"), platform.pack("1.1")]
        try await platform.server().ask { client async throws in
            func published() throws -> String? { try platform.catalogue().modules.first?.network?.description }
            let first = try await client.change("publish?network=unmetered", body: ByteBuffer(file: packs[0]))
            #expect(first.status == .created)
            #expect(try published() == "unmetered")
            let package = try await client.execute(uri: "/package", method: .get)
            #expect(String(buffer: package.body).contains(#""networkType":"wifi""#))
            let modules = try await client.execute(
                uri: "/modules",
                method: .post,
                body: ByteBuffer(string: #"{"data":{}}"#)
            )
            #expect(String(buffer: modules.body).contains(#""networkType":"wifi""#))
            #expect(try await client.change("publish", body: ByteBuffer(file: packs[1])).status == .created)
            #expect(try published() == "unmetered")
            #expect(try await client.change("network?network=wired").status == .ok)
            #expect(try published() == "wired")
            #expect(try await client.change("network?network=unmeterd").status == .conflict)
            #expect(try published() == "wired")
            #expect(try await client.change("network").status == .ok)
            #expect(try published() == nil)
        }
    }

    @Test("old releases are pruned, with their files")
    func pruning() async throws {
        for version in ["1.0", "1.1", "1.2"] {
            let pack = try platform.pack(version)
            try await platform.releases.publish(zip: pack, keepingDeltas: 0, signedBy: [platform.key])
        }
        try await platform.server().ask { client async throws in
            #expect(try await client.change("prune?keep=1").status == .ok)
            #expect(try platform.catalogue().modules.first?.releases.map(\.version.description) == ["1.1", "1.2"])
            let gone = try await client.execute(uri: "/packs/shop/1.0/shop-1.0.zip", method: .get)
            #expect(gone.status == .notFound)
        }
    }

    @Test("reading needs no token, and returns the live version with the sizes of whole packs and patches")
    func reading() async throws {
        try await platform.publish("1.0", "1.1")
        try await platform.server().ask { client async throws in
            let response = try await client.execute(uri: "/api/modules", method: .get)
            #expect(response.status == .ok)
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            let index = try decoder.decode(ReleaseIndex.self, from: Data(response.body.readableBytesView))
            #expect(try await platform.releases.index() == index)
            #expect(index.modules.first?.releases.last?.patches.count == 2)
        }
    }

    @Test(
        "a body that is too large is refused at once if it announces its length, and otherwise cut off at the limit"
    )
    func tooLarge() async throws {
        let pack = try ByteBuffer(file: platform.pack("1.0", size: Platform.large))
        var chunked = Platform.authorization
        chunked[.transferEncoding] = "chunked"
        for headers in [Platform.authorization, chunked] {
            try await platform.server { $0.maximumUpload = 1 << 18 }.ask { client async throws in
                let response = try await client.change("publish", headers: headers, body: pack)
                #expect(response.status == .contentTooLarge)
                #expect(response.problem == "tooLarge")
            }
        }
        #expect(try platform.catalogue().modules.isEmpty)
    }

    @Test("an invalid pack is refused with the reason, which names no file of the server")
    func refused() async throws {
        try await platform.publish("1.1")
        var damaged = try Data(contentsOf: platform.pack("1.2"))
        damaged[damaged.count / 2] ^= 0xFF
        let unreadable = "the upload cannot be read as a pack"
        // Where the message is nil, it depends on the pack.
        let cases: [(String, ByteBuffer, HTTPResponse.Status, String, String?)] = [
            ("shop", ByteBuffer(bytes: damaged), .unprocessableContent, "damaged", nil),
            ("shop", ByteBuffer(string: "no zip"), .unprocessableContent, "damaged", unreadable),
            ("shop", ByteBuffer(), .unprocessableContent, "damaged", unreadable),
            ("shop", try ByteBuffer(file: platform.pack("1.0")), .conflict, "invalidArgument", nil),
            ("cart", try ByteBuffer(file: platform.pack("1.2")), .unprocessableContent, "otherModule", nil),
        ]
        let serial = try platform.catalogue().serial
        try await platform.server().ask { client async throws in
            for (module, body, status, code, expected) in cases {
                let response = try await client.change("publish", of: module, body: body)
                #expect(response.status == status)
                #expect(response.problem == code)
                let message = try #require(response.message)
                #expect(!message.contains(FileManager.default.temporaryDirectory.path))
                if let expected { #expect(message == expected) }
            }
        }
        #expect(try platform.catalogue().serial == serial)
    }

    @Test("an error of the release directory is answered without its path")
    func hiddenPath() async throws {
        try await platform.publish("1.0")
        try await platform.server().ask { client async throws in
            let lock = platform.root.appending(path: "lock")
            try FileManager.default.removeItem(at: lock)
            try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: false)
            let failed = try await client.change("disable")
            #expect(failed.status == .internalServerError)
            #expect(failed.message?.hasPrefix("changing the release directory failed") == true)
            #expect(failed.message?.contains(platform.folder.path) == false)

            try Data("{".utf8).write(to: platform.root.appending(path: "releases.json"))
            let damaged = try await client.execute(uri: "/api/modules", method: .get)
            #expect(damaged.problem == "damaged")
            #expect(damaged.message?.hasPrefix("the release directory/releases.json cannot be read") == true)
            #expect(damaged.message?.contains(platform.folder.path) == false)
        }
    }

    @Test(
        "invalid names and numbers are refused",
        arguments: [
            ("cart/rollback", .notFound), ("cart/disable", .notFound), ("..%2fshop/disable", .badRequest),
            (".hidden/disable", .badRequest), ("a%20b/disable", .badRequest),
            ("shop/rollback?version=one", .badRequest),
            ("shop/minimum?version=one", .badRequest), ("cart/minimum", .notFound), ("shop/prune", .badRequest),
            ("shop/prune?keep=0", .badRequest), ("cart/prune?keep=1", .notFound),
            ("shop/publish?rollout=101", .badRequest), ("shop/publish?rollout=nan", .badRequest),
            ("shop/publish?force=perhaps", .badRequest),
            ("shop/explode", .notFound), ("\(String(repeating: "a", count: 65))/disable", .badRequest),
        ] as [(String, HTTPResponse.Status)]
    )
    func impossible(path: String, status: HTTPResponse.Status) async throws {
        try await platform.publish("1.0")
        let serial = try platform.catalogue().serial
        try await platform.server().ask { client async throws in
            let response = try await client.execute(
                uri: "/api/modules/\(path)",
                method: .post,
                headers: Platform.authorization
            )
            #expect(response.status == status)
        }
        #expect(try platform.catalogue().serial == serial)
    }

    @Test("a token has a minimum length; white space around it does not count")
    func tokenLength() {
        #expect(AdminToken("short") == nil)
        #expect(AdminToken(String(repeating: " ", count: 40)) == nil)
        #expect(AdminToken("  0123456789abcdef\n") != nil)
    }
}

extension PlatformClient {
    /// Sends a change of a module, by default with the token.
    fileprivate func change(
        _ action: String,
        of module: String = "shop",
        headers: HTTPFields = Platform.authorization,
        body: ByteBuffer? = nil
    ) async throws -> ServerAnswer {
        try await execute(uri: "/api/modules/\(module)/\(action)", method: .post, headers: headers, body: body)
    }
}
