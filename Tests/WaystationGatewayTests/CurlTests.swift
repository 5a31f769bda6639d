#if Gateway
import Foundation
import Testing
import Waystation
import WaystationGateway
import WaystationTestSupport

/// curl itself asks a gateway, in each of the three ways in which a client can.
@Suite("curl", .timeLimit(.minutes(10)))
struct CurlTests {
    typealias Face = ShopFixture.Face

    @Test("gets files, their heads, and ranges of them", arguments: Face.allCases)
    func files(face: Face) async throws {
        let shop = try await ShopFixture()
        let whole = try await shop.curl("/a.txt", face)
        #expect(whole.ending == .exited(0), "\(whole.errorText)")
        #expect(whole.text == "0123456789")
        let head = try await shop.curl("/a.txt", face, ["--head"])
        #expect(head.text.contains("HTTP/1.1 200 OK"))
        #expect(head.text.contains("Content-Length: 10\r\n"))
        let part = try await shop.curl("/a.txt", face, ["--range", "2-4", "--write-out", " %{http_code}"])
        #expect(part.text == "234 206")
        let none = try await shop.curl("/none", face, ["--write-out", " %{http_code}"])
        #expect(none.text.hasSuffix(" 404"))
    }

    @Test("uploads a file and a form as they are", arguments: Face.allCases)
    func uploads(face: Face) async throws {
        let shop = try await ShopFixture { .ok("\($0.bodyLength)") }
        let body = Data(ShopFixture.film.prefix(3 << 20))
        try shop.folder.write(body, to: "upload")
        let file = shop.folder.path("upload")
        let put = try await shop.curl("/api/file", face, ["--upload-file", file])
        #expect(put.text == "\(body.count)", "\(put.errorText)")
        let form = try await shop.curl("/api/form", face, ["--form", "part=@\(file);type=a/b", "--form", "name=value"])
        #expect(form.ending == .exited(0))
        let requests = shop.origin.requests
        try #require(requests.count == 2)
        #expect(requests[0].method == "PUT")
        #expect(requests[0].body == body)
        #expect(requests[1].value(of: "Content-Type")?.hasPrefix("multipart/form-data; boundary=") == true)
        #expect(requests[1].body.range(of: body) != nil)
    }

    /// “squeezed squeezed squeezed”, as gzip.
    private static let squeezed = Data(base64Encoded: "H4sIAAAAAAAAAysuLE1NrUpNUShGZwAARo/YGhoAAAA=") ?? Data()

    @Test("asks for a coded response, and gets its content", arguments: Face.allCases)
    func compressed(face: Face) async throws {
        let shop = try await ShopFixture { _ in .ok(Self.squeezed, fields: ["Content-Encoding": "gzip"]) }
        let answer = try await shop.curl("/api/text", face, ["--compressed"])
        #expect(answer.text == "squeezed squeezed squeezed", "\(answer.errorText)")
    }

    @Test("keeps its connection for several requests", arguments: Face.allCases)
    func keepAlive(face: Face) async throws {
        let shop = try await ShopFixture { _ in .ok("api ") }
        let urls = ["/a.txt", "/api/1", "/blocked", "/api/2"].map { shop.url($0, face) }
        let answer = try await Programs.curl(
            shop.route(face) + ["--write-out", " %{http_code} %{num_connects}|"] + urls
        )
        let parts = answer.text.split(separator: "|").map { $0.suffix(5) }
        #expect(parts == ["200 1", "200 0", "403 0", "200 0"], "\(answer.text) \(answer.errorText)")
    }

    @Test("downloads a large file whole", arguments: Face.allCases)
    func large(face: Face) async throws {
        let shop = try await ShopFixture()
        try shop.writeFilm()
        let file = shop.folder.path("downloaded")
        let answer = try await shop.curl("/film", face, ["--output", file])
        #expect(answer.ending == .exited(0), "\(answer.errorText)")
        #expect(try Data(contentsOf: URL(filePath: file)) == ShopFixture.film)
    }
}
#endif
