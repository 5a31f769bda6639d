import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationRecording
import WaystationTesting

@Suite("Secrets in a recording")
struct RedactionTests {
    private let place: Workplace
    private static let multipart =
        "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\ns3cret-part\r\n--b--"

    init() throws { place = try Workplace() }

    /// A session that reports to a recorder.
    private func session(_ recorder: HARRecorder) throws -> URLSession {
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.standard))]
            $0.cache = try place.cache()
            $0.recorder = recorder
        }
        return URLSession(configuration: .ephemeral.intercepted(by: interceptor))
    }

    /// Records a session full of secrets and returns the file's text.
    private func record(_ redaction: Redaction) async throws -> String {
        let origin = try ScriptedOrigin { request in
            request.path == "/login"
                ? .redirect(302, to: "/home?token=s3cret-location#access_token=s3cret-fragment")
                : .ok("page", fields: ["Set-Cookie": "id=s3cret-set; Path=/", "Set-Cookie": "b=s3cret-second"])
        }
        let recorder = HARRecorder(redaction: redaction)
        let session = try session(recorder)
        var login = URLRequest(url: origin.url("/login?Access_Token=s3cret-query&page=2&pass%77ord=s3cret-coded"))
        login.setValue("Bearer s3cret-bearer", forHTTPHeaderField: "Authorization")
        login.setValue("sid=s3cret-cookie; theme=s3cret-theme", forHTTPHeaderField: "Cookie")
        login.setValue("s3cret-key", forHTTPHeaderField: "x-api-KEY")
        login.setValue("https://anna:s3cret-user@shop.example/?key=s3cret-referer", forHTTPHeaderField: "Referer")
        _ = try await session.data(for: login)
        let bodies: [(type: String?, body: String)] = [
            ("application/x-www-form-urlencoded", "user=anna&password=s3cret-form&x=1"),
            ("application/json", #"{"user":"anna","deep":[{"Token":"s3cret-json","n":1}]}"#),
            ("application/json", #"{"accessToken":"s3cret-camel","refresh-token":"s3cret-dashed"}"#),
            ("application/x-www-form-urlencoded", "clientSecret=s3cret-client"),
            ("application/json", #"{"broken": "password": "s3cret-broken""#),
            (
                "multipart/form-data; boundary=b",
                Self.multipart
            ),
            (nil, #"{"user":"anna","password":"s3cret-untyped"}"#),
            // `curl -d` sends this type.
            ("application/x-www-form-urlencoded", #" [{"password":"s3cret-posted"}]"#),
            ("application/x-www-form-urlencoded", "[page]=3&password=s3cret-bracket"),
            ("application/x-www-form-urlencoded", #"payload={"password":"s3cret-payload"}"#),
        ]
        for (type, body) in bodies {
            var request = URLRequest(url: origin.url("/post"))
            request.httpMethod = "POST"
            request.httpBody = Data(body.utf8)
            request.setValue(type, forHTTPHeaderField: "Content-Type")
            _ = try await session.data(for: request)
        }
        let file = place.file("session.har")
        try recorder.write(to: file)
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        return try String(contentsOf: file, encoding: .utf8)
    }

    @Test("are not in the file, wherever they occurred, and everything else is")
    func standard() async throws {
        let text = try await record(.standard)
        let found = text.matches(of: /s3cret-[a-z]+/).map { String($0.output) }
        #expect(found.isEmpty)
        // A body that is not text is in Base64.
        #expect(!text.contains(Data(Self.multipart.utf8).base64EncodedString()))
        #expect(text.contains(Data("[redacted]".utf8).base64EncodedString()))
        #expect(text.contains("[redacted]"))
        #expect(text.contains("page=2"))
        #expect(text.contains("Access_Token=%5Bredacted%5D"))
        #expect(text.contains("user=anna&password=%5Bredacted%5D&x=1"))
        #expect(text.contains(#"\"user\":\"anna\""#))
        #expect(text.contains(#""name":"theme""#))
    }

    @Test("are left out of a form that is not UTF-8, and the rest of it keeps its bytes")
    func latinForm() {
        let type = "application/x-www-form-urlencoded"
        let form = Data("name=M".utf8) + [0xFC] + Data("ller&password=s3cret".utf8) + [0xE9]
        let expected = Data("name=M".utf8) + [0xFC] + Data("ller&password=%5Bredacted%5D".utf8)
        #expect(Redaction.standard.body(form, type: type) == expected)
        // Swift counts a combining character and the sign before it as one character.
        let combined = Data("password=\u{301}s3cret&\u{301}=1&token=s3cret".utf8)
        let text = String(decoding: Redaction.standard.body(combined, type: type), as: UTF8.self)
        #expect(!text.contains("s3cret"))
    }

    @Test("are all in the file if nothing is redacted")
    func none() async throws {
        let text = try await record(.none)
        let found = Set(text.matches(of: /s3cret-[a-z]+/).map { String($0.output) })
        let all = [
            "location", "query", "coded", "bearer", "cookie", "theme", "key", "user", "referer", "form", "json",
            "broken", "set", "second", "camel", "dashed", "client", "untyped", "posted", "bracket", "payload",
        ]
        #expect(Set(all.map { "s3cret-\($0)" }).isSubset(of: found))
    }

    @Test("are those that the app names")
    func own() async throws {
        var redaction = Redaction.none
        redaction.itemNames = ["page"]
        redaction.fieldNames = ["x-api-key"]
        let text = try await record(redaction)
        #expect(text.contains("page=%5Bredacted%5D"))
        #expect(!text.contains("s3cret-key"))
        #expect(text.contains("s3cret-bearer"))
    }

    @Test("in a request keep its response from being imported, since it would answer no request or every request")
    func imported() async throws {
        let origin = try ScriptedOrigin { request in
            request.path == "/mine"
                ? .ok("anna's", fields: ["Cache-Control": "max-age=60"])
                : .ok("hers", fields: ["Vary": "Cookie", "Cache-Control": "max-age=60"])
        }
        for (redaction, expected) in [
            (Redaction.standard, ["/mine": "redacted", "/varies": "redacted"]), (.none, [:]),
        ] {
            let recorder = HARRecorder(redaction: redaction)
            let session = try session(recorder)
            var mine = URLRequest(url: origin.url("/mine"))
            mine.setValue("Bearer s3cret", forHTTPHeaderField: "Authorization")
            var varies = URLRequest(url: origin.url("/varies"))
            varies.setValue("id=s3cret", forHTTPHeaderField: "Cookie")
            for request in [mine, varies] { _ = try await session.data(for: request) }
            let cache = try place.cache()
            #expect(try await cache.importRecording(recorder.archive()).reasons == expected)
            guard expected.isEmpty else { continue }
            let session2 = try offline(cache)
            #expect(try await session2.data(for: mine).0 == Data("anna's".utf8))
            #expect(try await session2.data(for: varies).0 == Data("hers".utf8))
            await #expect(throws: URLError.self) { try await session2.data(from: origin.url("/mine")) }
            await #expect(throws: URLError.self) { try await session2.data(from: origin.url("/varies")) }
        }
    }
}
