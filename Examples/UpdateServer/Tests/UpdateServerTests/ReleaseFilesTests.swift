import Foundation
import HTTPTypes
import NIOCore
import Testing
import WaystationPacks

@testable import UpdateServer

@Suite("Files for clients")
struct ReleaseFilesTests {
    private let platform: Platform

    init() throws { platform = try Platform() }

    private static let zip = "/packs/shop/1.0/shop-1.0.zip"

    @Test("the catalogue exists from the start, and is fetched again only if it has changed")
    func catalogue() async throws {
        try await platform.server().ask { client in
            let first = try await client.execute(uri: "/catalogue.json", method: .get)
            #expect(first.status == .ok)
            #expect(first.headers[.cacheControl] == "no-cache")
            #expect(try platform.catalogue().modules.isEmpty)
            let tag = try #require(first.headers[.eTag])
            let same = try await client.execute(uri: "/catalogue.json", method: .get, headers: [.ifNoneMatch: tag])
            #expect(same.status == .notModified)
            #expect(same.headers[.contentLength] == nil)
            try await platform.publish("1.0")
            let other = try await client.execute(uri: "/catalogue.json", method: .get, headers: [.ifNoneMatch: tag])
            #expect(other.status == .ok)
            #expect(other.body != first.body)
        }
    }

    @Test("over a socket a pack arrives whole, and a download continues where it was cut")
    func download() async throws {
        try await platform.publish("1.0", size: Platform.large)
        let bytes = try Data(contentsOf: platform.root.appending(path: Self.zip))
        #expect(bytes.count > 500_000)
        try await platform.server().ask { client in
            let whole = try await client.execute(uri: Self.zip, method: .get)
            #expect(whole.status == .ok)
            #expect(whole.headers[.contentLength] == "\(bytes.count)")
            #expect(whole.headers[.contentType] == "application/zip")
            #expect(Data(whole.body.readableBytesView) == bytes)
            let tag = try #require(whole.headers[.eTag])
            let rest = try await client.execute(
                uri: Self.zip,
                method: .get,
                headers: [.range: "bytes=300000-", .ifRange: tag]
            )
            #expect(rest.status == .partialContent)
            #expect(rest.headers[.contentRange] == "bytes 300000-\(bytes.count - 1)/\(bytes.count)")
            #expect(Data(rest.body.readableBytesView) == bytes.dropFirst(300_000))
            let changed = try await client.execute(
                uri: Self.zip,
                method: .get,
                headers: [.range: "bytes=300000-", .ifRange: "\"other\""]
            )
            #expect(changed.status == .ok)
            #expect(changed.body.readableBytes == bytes.count)
            let beyond = try await client.execute(uri: Self.zip, method: .get, headers: [.range: "bytes=9000000-"])
            #expect(beyond.status == .rangeNotSatisfiable)
            // The connection is still usable for the next request.
            let again = try await client.execute(uri: "/catalogue.json", method: .get)
            #expect(again.status == .ok)
        }
    }

    @Test("HEAD states the length and has no body; a patch is not sent as text")
    func head() async throws {
        try await platform.publish("1.0", "1.1")
        try await platform.server().ask { client in
            let zip = try await client.execute(uri: "/packs/shop/1.1/shop-1.1.zip", method: .head)
            #expect(zip.status == .ok)
            #expect(Int(zip.headers[.contentLength] ?? "") ?? 0 > 20_000)
            #expect(zip.body.readableBytes == 0)
            for kind in ["content", "zip"] {
                let patch = try await client.execute(uri: "/packs/shop/1.1/patches/1.0-\(kind).patch", method: .get)
                #expect(patch.status == .ok)
                #expect(patch.headers[.contentType] == "application/octet-stream")
                #expect(patch.headers[.xContentTypeOptions] == "nosniff")
            }
        }
    }

    @Test(
        "only the catalogue and the packs are served, in every spelling of a path",
        arguments: [
            "/releases.json", "/lock", "/staging/", "/packs/../releases.json", "/packs/%2e%2e/releases.json",
            "/packs/..%2freleases.json", "/packs/shop/../../releases.json", "/packs//../releases.json",
            "/packs/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "/packs/..%5c..%5creleases.json", "/packs/shop%00/1.0",
            "/packs/shop/1.0/", "/packs/", "/packs", "/packs/%", "/packs/%zz", "/packs/link", "/packs/link/passwd",
            "/catalogue.json/..%2freleases.json", "//etc/passwd", "/packs/%252e%252e/releases.json",
        ]
    )
    func hostile(path: String) async throws {
        try await platform.publish("1.0")
        try FileManager.default.createSymbolicLink(
            at: platform.root.appending(path: "packs/link"),
            withDestinationURL: URL(filePath: "/etc")
        )
        let known = try ["releases.json"].map { try Data(contentsOf: platform.root.appending(path: $0)) }
        try await platform.server().ask { client in
            for method in [HTTPRequest.Method.get, .head] {
                let response = try await client.execute(uri: path, method: method)
                #expect([.notFound, .badRequest].contains(response.status), "\(path): \(response.status)")
                #expect(!known.contains(Data(response.body.readableBytesView)))
                #expect(!String(buffer: response.body).contains("root:"))
            }
        }
    }

    @Test("requests cannot change files", arguments: [HTTPRequest.Method.put, .delete, .post, .patch])
    func methods(method: HTTPRequest.Method) async throws {
        try await platform.publish("1.0")
        try await platform.server().ask { client in
            for path in ["/catalogue.json", Self.zip] {
                let response = try await client.execute(uri: path, method: method, headers: Platform.authorization)
                #expect(response.status == .methodNotAllowed)
                #expect(response.headers[.allow] != nil)
            }
        }
        #expect(FileManager.default.fileExists(atPath: platform.root.appending(path: Self.zip).path))
    }
}
