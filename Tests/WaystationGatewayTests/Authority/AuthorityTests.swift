#if Gateway
import Foundation
import Testing
import Waystation
import WaystationHTTP
import WaystationTestSupport

@testable import WaystationGateway

@Suite("An authority", .timeLimit(.minutes(10)))
struct AuthorityTests {
    private let folder: TemporaryFolder
    private let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let rules: [Rule] = [
        .allow("https://shop.example/**", via: .nowhere), .allow("https://*.cdn.example:8443/**", via: .nowhere),
    ]

    init() throws { folder = try TemporaryFolder() }

    private var directory: URL { folder.url.appending(path: "authority") }
    private var file: URL { directory.appending(path: "authority.pem") }

    private func open(_ rules: [Rule] = Self.rules, after time: TimeInterval = 0) throws -> CertificateAuthority {
        try CertificateAuthority.open(in: directory, for: rules, now: now + time)
    }

    @Test("is not made at the path of a URL that is not a file URL")
    func remote() throws {
        let remote = try #require(URL(string: "https://authority.example\(directory.path)"))
        let error = #expect(throws: CertificateAuthorityError.self) {
            try CertificateAuthority.open(in: remote, for: Self.rules, now: now)
        }
        #expect(error?.description.contains("\(remote) is not a file URL") == true)
        #expect(!FileManager.default.fileExists(atPath: directory.path))
    }

    // MARK: - Hosts

    @Test(
        "certifies the hosts that a rule for https names, at the rule's port, in canonical spelling only",
        arguments: [
            ("shop.example", 443, true), ("SHOP.example", 443, true), ("shop.example", 8443, false),
            ("a.shop.example", 443, false), ("a.cdn.example", 8443, true), ("a.b.cdn.example", 8443, true),
            ("a.cdn.example", 443, false), ("cdn.example", 8443, false), ("both.example", 443, true),
            ("a.both.example", 443, true), ("any.example", 1, true), ("plain.example", 443, false),
            ("web.example", 443, true), ("blocked.example", 443, true), ("evilshop.example", 443, false),
            ("shop.example.evil.example", 443, false), ("shop.example.", 443, false), ("shop%2eexample", 443, false),
            ("127.0.0.1", 443, false), ("[::1]", 443, false), ("0x7f.1", 443, false), ("", 443, false),
            ("a.com", 443, false), ("other.example", 443, false), ("shop.example/", 443, false),
            ("shop.example@evil.example", 443, false), ("xn--mnchen-3ya.example", 443, true),
            ("dev", 443, false), ("web.dev", 443, false), ("localhost", 443, true),
            // Public suffixes of several labels, and hosts below them.
            ("a.co.uk", 443, false), ("co.uk", 443, false), ("evil.github.io", 443, false), ("github.io", 443, false),
            ("me.github.io", 443, true), ("a.shop.co.uk", 443, true), ("evil.co.uk", 443, false),
            ("a.kobe.jp", 443, false), ("b.kobe.jp", 443, false),
        ]
    )
    func hosts(host: String, port: Int, isCertified: Bool) throws {
        let hosts = CertifiedHosts(
            of: try [
                "https://Shop.Example/a/b?c", "https://*.cdn.example:8443/**", "https://**.both.example/**",
                "https://any.example:*/**", "http://plain.example/**", "*://web.example/**",
                "https://blocked.example/**",
                "https://127.0.0.1/**", "https://[::1]/**", "https://*.com/**", "https://*/**",
                "https://münchen.example/", "https://dev/**", "https://localhost/**",
                "https://*.co.uk/**", "https://github.io/**", "https://**.github.io/**", "https://*.a.kobe.jp/**",
                "https://me.github.io/**", "https://*.shop.co.uk/**", "https://*.xn--55qx5d.cn/**",
            ].map { try URLPattern($0) }
        )
        #expect(hosts.contains(host, port: port) == isCertified)
        #expect(
            hosts.names == [
                "any.example", "blocked.example", "both.example", "cdn.example", "localhost", "me.github.io",
                "shop.co.uk", "shop.example", "web.example", "xn--mnchen-3ya.example",
            ]
        )
        #expect(
            hosts.leftOut == [
                "https://127.0.0.1/**", "https://[::1]/**", "https://*.com/**", "https://*/**", "https://dev/**",
                "https://*.co.uk/**", "https://github.io/**", "https://**.github.io/**", "https://*.a.kobe.jp/**",
                "https://*.xn--55qx5d.cn/**",
            ]
        )
    }

    @Test("is not made for rules that name no host, and says what they have")
    func noHosts() throws {
        let error = #expect(throws: CertificateAuthorityError.self) {
            try open([.allow("https://*/**", via: .nowhere), .allow("http://shop.example/**", via: .nowhere)])
        }
        #expect(error?.description.contains("no rule names a host of https") == true)
        #expect(error?.description.contains("https://*/**") == true)
        #expect(error?.code == .invalidRules)
        let invalid = #expect(throws: CertificateAuthorityError.self) {
            try open([.allow("not a pattern", via: .nowhere)])
        }
        #expect(invalid?.code == .invalidRules)
        #expect(invalid?.cause is URLPatternError)
    }

    // MARK: - Opening

    @Test("is made once, and is the same when it is opened again")
    func opening() throws {
        let made = try open()
        #expect(made.madeBecause == "the directory had no authority")
        #expect(made.names == ["cdn.example", "shop.example"])
        let root = try Data(contentsOf: made.rootCertificate)
        let again = try open(after: 26 * 86_400)
        #expect(again.madeBecause == nil)
        #expect(try Data(contentsOf: again.rootCertificate) == root)
        #expect(again.expires == made.expires)
    }

    @Test("is not opened from a file that is too large")
    func largeFile() throws {
        _ = try open()
        try SparseFile.make(at: file)
        let error = #expect(throws: CertificateAuthorityError.self) { try open() }
        #expect(error?.description.contains("it has more than 4194304 bytes") == true)
    }

    @Test("keeps its key from other users, and no key of its root")
    func permissions() throws {
        let made = try open()
        let modes = try [directory.path, file.path].map {
            try FileManager.default.attributesOfItem(atPath: $0)[.posixPermissions] as? Int
        }
        #expect(modes == [0o700, 0o600])
        let stored = try String(contentsOf: file, encoding: .utf8)
        #expect(stored.components(separatedBy: "PRIVATE KEY-----").count == 3)
        #expect(stored.components(separatedBy: "BEGIN CERTIFICATE").count == 3)
        #expect(try !String(contentsOf: made.rootCertificate, encoding: .utf8).contains("PRIVATE KEY"))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
                == ["authority.pem", "lock", "root.pem"]
        )
    }

    @Test("is made anew when the rules name other hosts, when it ends soon, and when the clock was set back")
    func renewal() throws {
        var root = try Data(contentsOf: open().rootCertificate)
        func expectNew(_ authority: CertificateAuthority, _ reason: String) throws {
            let found = try Data(contentsOf: authority.rootCertificate)
            #expect(found != root)
            #expect(authority.madeBecause?.contains(reason) == true, "\(authority.madeBecause ?? "nil")")
            root = found
        }
        try expectNew(
            open([.allow("https://shop.example/**", via: .nowhere)]),
            "was for cdn.example, shop.example, and is now for shop.example"
        )
        try expectNew(open(), "and is now for cdn.example, shop.example")
        try expectNew(open(after: 28 * 86_400), "the authority is valid only until")
        try expectNew(open(), "the clock was set back")
    }

    @Test("is not opened when other users may read its key, and says what to do")
    func openKey() throws {
        _ = try open()
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
        let error = #expect(throws: CertificateAuthorityError.self) { try open() }
        #expect(error?.description.contains("its mode is 640, it must be 600") == true)
        #expect(error?.description.contains(file.path) == true)
    }

    @Test(
        "is not opened when its file is damaged or has the parts of two",
        arguments: ["empty", "text", "two", "link"]
    )
    func damage(kind: String) throws {
        _ = try open()
        let stored = try String(contentsOf: file, encoding: .utf8)
        let other = try CertificateAuthority.open(
            in: folder.url.appending(path: "other"),
            for: Self.rules,
            now: now
        )
        let foreign = try String(
            contentsOf: other.rootCertificate.deletingLastPathComponent().appending(path: "authority.pem"),
            encoding: .utf8
        )
        let mark = "-----END PRIVATE KEY-----\n"
        let key = try #require(stored.firstRange(of: mark)?.upperBound)
        let foreignKey = try #require(foreign.firstRange(of: mark)?.upperBound)
        try FileManager.default.removeItem(at: file)
        switch kind {
        case "empty": try Data().write(to: file)
        case "text": try Data("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n".utf8).write(to: file)
        case "two": try Data((foreign[..<foreignKey] + stored[key...]).utf8).write(to: file)
        default:
            try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "/dev/null")
        }
        if kind != "link" {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        }
        let error = #expect(throws: CertificateAuthorityError.self) { try open() }
        #expect(error?.description.contains(file.path) == true, "\(error?.description ?? "nil")")
    }

    @Test("restores the root's file, and removes what an interrupted write left")
    func leftOvers() throws {
        let made = try open()
        let root = try Data(contentsOf: made.rootCertificate)
        try Data("other".utf8).write(to: made.rootCertificate)
        try Data("key".utf8).write(to: directory.appending(path: "new-0"))
        #expect(try open().madeBecause == nil)
        #expect(try Data(contentsOf: made.rootCertificate) == root)
        #expect(!FileManager.default.fileExists(atPath: directory.appending(path: "new-0").path))
    }

    @Test("makes certificates for hosts within its constraint, until it ends")
    func contexts() throws {
        let authority = try open()
        let first = try authority.context(for: "shop.example", now: now)
        #expect(try authority.context(for: "Shop.Example", now: now) === first)
        // A certificate is valid for seven days, and replaced a day before its end.
        #expect(try authority.context(for: "shop.example", now: now + 5.9 * 86_400) === first)
        #expect(try authority.context(for: "shop.example", now: now + 6.1 * 86_400) !== first)
        #expect(throws: CertificateAuthorityError.self) { try authority.context(for: "evil.example", now: now) }
        let late = try authority.context(for: "a.cdn.example", now: now + 29.5 * 86_400)
        #expect(try authority.context(for: "a.cdn.example", now: now + 29.9 * 86_400) === late)
        let error = #expect(throws: CertificateAuthorityError.self) {
            try authority.context(for: "shop.example", now: now + 30 * 86_400)
        }
        #expect(error?.description.contains("the authority is valid only until") == true)
    }

    @Test("gives commands that name its root, one name for each directory, and how to take it away")
    func steps() throws {
        let root = URL(filePath: "/tmp/it's/root.pem")
        let steps = TrustSteps.all(for: root)
        #expect(steps.count == 4)
        #expect(steps[0].install.last?.hasSuffix(#"-i '/tmp/it'\''s/root.pem'"#) == true)
        let name = try #require(steps[0].remove.first?.split(separator: " ").last)
        #expect(name.hasPrefix("waystation-gateway-"))
        #expect(steps[1].remove.first == "rm -f /usr/local/share/ca-certificates/\(name).crt")
        #expect(TrustSteps.all(for: URL(filePath: "/tmp/other/root.pem"))[0].remove != steps[0].remove)
        #expect(steps[0].description.contains("to remove it:\n  certutil"))
    }

    @Test("gives a command that installs its root among the system's certificates, readable for every user")
    func systemStep() async throws {
        let steps = TrustSteps.all(for: try open().rootCertificate)
        let command = try #require(steps[1].install.first)
        let installed = folder.url.appending(path: "installed.crt")
        let place = try #require(command.split(separator: " ").last)
        let outcome = try await Programs.run("/bin/sh", ["-c", command.replacing(place, with: installed.path)])
        #expect(outcome.ending == .exited(0), "\(outcome.errorText)")
        let attributes = try FileManager.default.attributesOfItem(atPath: installed.path)
        #expect(attributes[.posixPermissions] as? Int == 0o644)
    }
}
#endif
