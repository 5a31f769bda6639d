import Testing
import WaystationHTTP

@Suite("Secrets by their names")
struct SecretNamesTests {
    @Test(
        "are found in names of fields and items that services use",
        arguments: [
            "Authorization", "authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "api-key", "X-API-Key",
            "apikey",
            "X-Goog-Api-Key", "PRIVATE-TOKEN", "X-Vault-Token", "Ocp-Apim-Subscription-Key", "X-Session-Token", "token",
            "X-Shopify-Access-Token", "X-RapidAPI-Key", "DD-API-KEY", "CF-Access-Client-Secret", "X-Amz-Security-Token",
            "Cf-Access-Jwt-Assertion", "X-Functions-Key", "access_token", "accessToken", "refresh-token", "id_token",
            "client_secret", "password", "new_password", "password2", "passwordConfirmation", "user[password]",
            "user[passwords][0][password]", "user.password", "wsse:Password", "csrf", "_csrf", "csrfmiddlewaretoken",
            "authenticity_token", "code", "code_verifier", "sig", "X-Amz-Signature", "SAMLResponse",
        ]
    )
    func secret(name: String) { #expect(SecretNames.standard.contains(name)) }

    @Test(
        "are not found in other names",
        arguments: [
            "", "ETag", "Idempotency-Key", "Sec-WebSocket-Key", "Access-Control-Allow-Credentials", "Content-Type",
            "page", "nextPageToken", "continuation_token", "max_tokens", "token_type", "country_code", "primary_key",
            "author",
            "passenger", "key1", "sort-key",
        ]
    )
    func harmless(name: String) { #expect(!SecretNames.standard.contains(name)) }

    @Test("are those that an app names: whole names, endings and parts")
    func own() {
        let names = SecretNames(["pin", "*_number", "*card*"])
        for name in ["pin", "PIN", "customer[pin]", "account_number", "accountNumber", "my_cards"] {
            #expect(names.contains(name), "\(name)")
        }
        for name in ["pins", "spin", "numbers", "token"] { #expect(!names.contains(name), "\(name)") }
        #expect(!SecretNames([]).contains("password"))
    }

    @Test(
        "are replaced in URLs",
        arguments: [
            ("https://h/a?page=2&access_token=s3cret", "https://h/a?page=2&access_token=%5Bredacted%5D"),
            ("https://anna:s3cret@h:8/a", "https://%5Bredacted%5D@h:8/a"),
            ("//anna:s3cret@h", "//%5Bredacted%5D@h"),
            ("/a;jsessionid=s3cret;v=1/b?c", "/a;jsessionid=%5Bredacted%5D;v=1/b?c"),
            ("/cb#access_token=s3cret&n=1", "/cb#access_token=%5Bredacted%5D&n=1"),
            ("https://h/#/reset?token=s3cret", "https://h/#/reset?token=%5Bredacted%5D"),
            ("/a?pass%77ord=s3cret&x", "/a?pass%77ord=%5Bredacted%5D&x"),
            ("/a?x=1&amp;token=s3cret", "/a?x=1&amp;token=%5Bredacted%5D"),
            (
                "/go?to=https%3A%2F%2Fh%2F%3Ftoken%3Ds3cret%26a%3D1",
                "/go?to=https%3A%2F%2Fh%2F%3Ftoken%3D%255Bredacted%255D%26a%3D1"
            ),
            ("/a?b=c#d", "/a?b=c#d"), ("/?=s&&", "/?=s&&"), ("", ""), ("?", "?"), ("#", "#"),
            ("//@", "//%5Bredacted%5D@"),
        ]
    )
    func urls(url: String, expected: String) { #expect(SecretNames.standard.url(url) == expected) }

    @Test("are replaced in the URLs of a message, and the rest of the message stays")
    func messages() {
        let message = "“https://a:b@h/?token=1” failed (http://h/?sig=2). See <https://h/?x=1>; 3 > 2."
        let expected =
            "“https://%5Bredacted%5D@h/?token=%5Bredacted%5D” failed (http://h/?sig=%5Bredacted%5D). "
            + "See <https://h/?x=1>; 3 > 2."
        #expect(SecretNames.standard.text(message) == expected)
        for text in ["", "://", "a://", "no URL", "://://"] { #expect(SecretNames.standard.text(text) == text) }
    }

    @Test("have no place in the URL of an error: it ends before the query, and has no user and password")
    func shown() {
        #expect("https://anna:s3cret@h/a?q=private#part".shownURL == "https://h/a")
        #expect("/a;jsessionid=s3cret?x".shownURL == "/a;jsessionid=%5Bredacted%5D")
        #expect(("https://h/" + String(repeating: "a", count: 3_000)).shownURL.count == 2_001)
    }
}
