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
        // A body that is not text is in Base64; only the secret in it is replaced.
        #expect(!text.contains(Data(Self.multipart.utf8).base64EncodedString()))
        let hidden = Self.multipart.replacing("s3cret-part", with: "[redacted]")
        #expect(text.contains(Data(hidden.utf8).base64EncodedString()))
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

    /// Bodies with secrets, and what is left of them.
    private static let redacted: [(type: String, body: String, hidden: String)] = [
        // All bytes but the secret's stay as they were: order, blanks, numbers and escapes.
        (
            "application/json", #"{ "z":1.50, "password" :"s3\"cr\u00e9t", "a":[12345678901234567890,"ü","\/"] }"#,
            #"{ "z":1.50, "password" :"[redacted]", "a":[12345678901234567890,"ü","\/"] }"#
        ),
        (
            "application/json", #"{"token":{"value":"s3cret","n":[7]},"t":"s"}"#,
            #"{"token":{"value":"[redacted]","n":["[redacted]"]},"t":"s"}"#
        ),
        (
            "application/json", #"{"token":null,"password":"","secret":true}"#,
            #"{"token":null,"password":"","secret":true}"#
        ),
        (
            "application/json", #"{"Authorization":"Bearer s3cret","csrf":"s3cret"}"#,
            #"{"Authorization":"[redacted]","csrf":"[redacted]"}"#
        ),
        (
            "application/x-ndjson", "{\"b\":1,\"a\":2}\n{\"token\":\"s3cret\"}\n\n{\"x\":{\"password\":\"s3cret\"}}\n",
            "{\"b\":1,\"a\":2}\n{\"token\":\"[redacted]\"}\n\n{\"x\":{\"password\":\"[redacted]\"}}\n"
        ),
        ("text/plain", #"{"access_token":"s3cret"}"#, #"{"access_token":"[redacted]"}"#),
        ("", #"[{"access_token":"s3cret"}]"#, #"[{"access_token":"[redacted]"}]"#),
        ("text/javascript", #"f({"access_token":"s3cret77"})"#, #"f({"access_token":"[redacted]"})"#),
        ("text/event-stream", "data: {\"token\":\"s3cret\"}\n\n", "data: {\"token\":\"[redacted]\"}\n\n"),
        (
            "application/json", #"{"body":"{\"token\":\"s3cret\",\"n\":1}","u":"/a?b=1&token=s3cret"}"#,
            #"{"body":"{\"token\":\"[redacted]\",\"n\":1}","u":"/a?b=1&token=%5Bredacted%5D"}"#
        ),
        (
            "application/json", #"{"query":"{ login(password: \"s3cret\") }"}"#,
            #"{"query":"{ login(password: \"[redacted]\") }"}"#
        ),
        ("text/plain", "a=1&password=s3cret&b=2", "a=1&password=%5Bredacted%5D&b=2"),
        (
            "application/x-www-form-urlencoded",
            "user[password]=s3cret&user%5Btoken%5D=s3cret&j=%7B%22token%22%3A%22s3cret%22%7D",
            "user[password]=%5Bredacted%5D&user%5Btoken%5D=%5Bredacted%5D&j=%7B%22token%22%3A%22%5Bredacted%5D%22%7D"
        ),
        (
            "application/xml",
            "<a><password>s3cret</password><b token='s3cret'/><w:Token><![CDATA[s3cret]]></w:Token><c>x</c></a>",
            "<a><password>[redacted]</password><b token='[redacted]'/><w:Token><![CDATA[[redacted]]]></w:Token><c>x</c></a>"
        ),
        (
            "text/xml", "<dict><key>password</key><string>s3cret</string><key>n</key><string>x</string></dict>",
            "<dict><key>password</key><string>[redacted]</string><key>n</key><string>x</string></dict>"
        ),
        (
            "text/html",
            "<input type=password name=password><input name=\"csrf_token\" value=\"s3cret77\"><code>a1b2c3d4</code>",
            "<input type=password name=password><input name=\"csrf_token\" value=\"[redacted]\"><code>a1b2c3d4</code>"
        ),
        (
            "multipart/form-data; boundary=\"b\"",
            "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\ns3cret\r\n--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.json\"\r\nContent-Type: application/json\r\n\r\n{\"token\":\"s3cret\"}\r\n--b--\r\n",
            "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n[redacted]\r\n--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.json\"\r\nContent-Type: application/json\r\n\r\n{\"token\":\"[redacted]\"}\r\n--b--\r\n"
        ),
        // A semicolon within quotation marks belongs to the name.
        (
            "multipart/form-data; boundary=b",
            "--b\r\nContent-Disposition: form-data; name=\"login;password\"\r\n\r\ns3cret\r\n--b--",
            "--b\r\nContent-Disposition: form-data; name=\"login;password\"\r\n\r\n[redacted]\r\n--b--"
        ),
        // A quotation mark that is not closed hides no name.
        (
            "multipart/form-data; boundary=\"b",
            "--b\r\nContent-Disposition: form-data; filename=\"a; name=\"password\"\r\n\r\ns3cret\r\n--b--",
            "--b\r\nContent-Disposition: form-data; filename=\"a; name=\"password\"\r\n\r\n[redacted]\r\n--b--"
        ),
        (
            "text/plain", "Authorization: Bearer s3cret\r\nX: 1\npassword: s3cret\nPassword: at least eight letters\n",
            "Authorization: [redacted]\r\nX: 1\npassword: [redacted]\nPassword: at least eight letters\n"
        ),
    ]

    @Test("are replaced in bodies of requests and responses, and nothing else changes", arguments: redacted)
    func bodies(type: String, body: String, hidden: String) {
        let request = Redaction.standard.body(Data(body.utf8), type: type)
        #expect(String(decoding: request, as: UTF8.self) == hidden)
        let response = Redaction.standard.responseBody(Data(body.utf8), type: type)
        #expect(String(decoding: response, as: UTF8.self) == hidden)
        #expect(Redaction.standard.responseBody(response, type: type) == response)
        #expect(Redaction.none.body(Data(body.utf8), type: type) == Data(body.utf8))
    }

    @Test(
        "are not what only has an ambiguous name in a response",
        arguments: [
            #"{"code":404}"#, #"{"code":"NOT_FOUND"}"#, #"{"code":"DE"}"#, #"{"nextPageToken":"abc","max_tokens":5}"#,
        ]
    )
    func ambiguous(body: String) {
        #expect(Redaction.standard.responseBody(Data(body.utf8), type: "application/json") == Data(body.utf8))
    }

    @Test("are searched in damaged and endless texts without a crash, in time that grows with the text")
    func hostile() {
        let beginnings = [
            "{\"token\":", "[", "<a>", "<a b='", "</a", "<![CDATA[", "<!--", "\"token\":\"\\", "\\", "\\u", "%", "&#",
            "token=", "--b\r\n",
            "://a@", "password: \"", "\"\\\"", "{\"a\":\"{\\\"b\\\":", "\u{0}token=\u{0}",
        ]
        for beginning in beginnings {
            for text in [beginning, String(repeating: beginning, count: 1_000)] {
                for type in [
                    "application/json", "text/plain", "text/html", "multipart/form-data; boundary=b",
                    "a/x-www-form-urlencoded",
                ] {
                    _ = Redaction.standard.body(Data(text.utf8), type: type)
                    _ = Redaction.standard.responseBody(Data(text.utf8), type: type)
                }
            }
        }
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
