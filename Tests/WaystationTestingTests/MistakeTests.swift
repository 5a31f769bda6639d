import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting

/// Each mistake that a user can make, and the whole text that explains it and says what to do.
@Suite(.timeLimit(.minutes(10)))
struct MistakeTests {
    @Test("a recording at a URL that is not a file's is refused", arguments: RecordingMode.allCases)
    func remoteRecording(mode: RecordingMode) throws {
        let url = try #require(URL(string: "https://api.example/tmp/orders.har"))
        let error = #expect(throws: StubError.self) {
            try Recording(url, mode, network: ScriptedTransport { _ in .ok() }, override: nil, now: { Date() })
        }
        #expect(error?.code == .missingRecording)
        #expect(error?.message.contains("https://api.example/tmp/orders.har") == true)
    }

    @Test(arguments: Mistake.all)
    func `each mistake has a text that names its place and says what to do`(mistake: Mistake) async throws {
        let folder = RecordingFolder()
        let text = try await mistake.explanation(folder).replacing(folder.url.path, with: "/shop")
        #expect(text == mistake.text)
    }

    @Test func `every kind of error is among the mistakes`() throws {
        let source = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/WaystationTesting/Stubs/StubError.swift")
        let codes = try String(contentsOf: source, encoding: .utf8).matches(of: /static let (\w+) = Code/)
            .map { String($0.output.1) }
        #expect(codes.count > 10)
        let shown = Set(Mistake.all.map { $0.text.prefix { $0 != ":" } })
        #expect(codes.filter { !shown.contains($0[...]) } == [])
    }
}

/// A mistake.
struct Mistake: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The code and the message.
    let text: String
    /// Makes the mistake, and returns the code and the message of its error.
    let explanation: @Sendable (RecordingFolder) async throws -> String

    init(_ name: String, _ text: String, _ explanation: @escaping @Sendable (RecordingFolder) async throws -> String) {
        testDescription = name
        self.text = text
        self.explanation = explanation
    }

    static let all = stubs + recordings + tests
}

extension Mistake {
    private static let file = "ShopTests/OrderTests.swift"

    // MARK: - Stubs

    private static let stubs = [
        Mistake(
            "no stub answers a request",
            """
            noMatch: no stub answers POST https://api.example/orders; the nearest:
              GET https://api.example/orders (\(file):1): method is POST, not GET
              POST https://api.example/orders (\(file):2): JSON at id is `7`, not `8`; field Accept is missing
              any method http://api.example/orders/* (\(file):3): scheme is https, not http; path is /orders, not /orders/*
            Add a stub for the request, or change one of the nearest stubs.
            """
        ) { _ in
            let stubs = try Stubs {
                Stub(.get("https://api.example/orders"), fileID: file, line: 1)
                Stub(
                    .post("https://api.example/orders").json("id", 8).field("Accept", "text/html"),
                    fileID: file,
                    line: 2
                )
                Stub(.any("http://api.example/orders/*"), fileID: file, line: 3)
                Stub(.delete("http://other.example/"), fileID: file, line: 4)
            }
            var request = URLRequest(url: try #require(URL(string: "https://api.example/orders")))
            request.httpMethod = "POST"
            request.httpBody = Data(#"{"id": 7}"#.utf8)
            return try await stubs.makeSession().mistake(request, verifiedBy: stubs.verify)
        },
        Mistake(
            "there are no stubs",
            "noMatch: no stub answers GET https://a.example/: there are no stubs. Add a stub for the request."
        ) { _ in
            let stubs = try Stubs {}
            return try await stubs.makeSession().mistake("https://a.example/", verifiedBy: stubs.verify)
        },
        Mistake(
            "a stub is asked more often than it may be",
            """
            askedTooOften: expected GET https://a.example/pay (\(file):1) once, was asked 2 times: correct the code under \
            test, or allow more requests with times(_:)
            """
        ) { _ in
            let stubs = try Stubs { Stub(.get("https://a.example/pay"), .ok(), fileID: file, line: 1).once() }
            _ = try await stubs.makeSession().load("https://a.example/pay")
            return try await stubs.makeSession().mistake("https://a.example/pay", verifiedBy: stubs.verify)
        },
        Mistake(
            "a stub is asked that must never be",
            """
            askedTooOften: expected any method https://ads.example/** (\(file):1) not at all, was asked 1 time: correct \
            the code under test, or allow more requests with times(_:)
            """
        ) { _ in
            let stubs = try Stubs { Stub(.any("https://ads.example/**"), fileID: file, line: 1).never() }
            return try await stubs.makeSession().mistake("https://ads.example/a", verifiedBy: stubs.verify)
        },
        Mistake(
            "a stub is asked less often than it must be",
            """
            askedTooSeldom: expected GET https://a.example/a (\(file):1) 2 times, was asked 0 times: correct the code under \
            test, or remove the stub
            """
        ) { _ in
            try verification {
                try Stubs { Stub(.get("https://a.example/a"), fileID: file, line: 1).times(2) }.verify()
            }
        },
        Mistake(
            "several stubs are asked too seldom",
            """
            several: expected GET https://a.example/b (\(file):1) 1 to 3 times, was asked 0 times: correct the code under \
            test, or remove the stub
            expected GET https://a.example/c (\(file):2) 2 times or more, was asked 0 times: correct the code under test, \
            or remove the stub
            """
        ) { _ in
            try verification {
                try Stubs {
                    Stub(.get("https://a.example/b"), fileID: file, line: 1).times(1...3)
                    Stub(.get("https://a.example/c"), fileID: file, line: 2).atLeast(2)
                    Stub(.get("https://a.example/d"), fileID: file, line: 3).times(0...1)
                }.verify()
            }
        },
        Mistake(
            "a stub is asked before its turn",
            """
            outOfOrder: GET https://a.example/me was asked before its turn: expected POST https://a.example/login \
            (\(file):1) first. Correct the order of the requests or of the stubs, or make the stubs without inOrder
            """
        ) { _ in
            let stubs = try Stubs(inOrder: true) {
                Stub(.post("https://a.example/login"), fileID: file, line: 1).once()
                Stub(.get("https://a.example/me"), fileID: file, line: 2)
            }
            return try await stubs.makeSession().mistake("https://a.example/me")
        },
        Mistake(
            "a stub is asked after its turn",
            """
            noMatch: no stub answers GET https://a.example/me; the nearest:
              GET https://a.example/me (\(file):1): its turn is over
              POST https://a.example/logout (\(file):2): path is /me, not /logout; method is GET, not POST
            Add a stub for the request, or change one of the nearest stubs.
            """
        ) { _ in
            let stubs = try Stubs(inOrder: true) {
                Stub(.get("https://a.example/me"), fileID: file, line: 1)
                Stub(.post("https://a.example/logout"), fileID: file, line: 2)
            }
            _ = try await stubs.makeSession().load("https://a.example/me")
            _ = try await stubs.makeSession().load("https://a.example/logout", method: "POST")
            return try await stubs.makeSession().mistake("https://a.example/me", verifiedBy: stubs.verify)
        },
        Mistake(
            "the pattern of a stub is not valid",
            """
            invalidPattern: the pattern of the stub GET api.example/** (\(file):1) is not valid: URL pattern not understood: \
            expected `://` after the scheme, as in `https://host/path`
              api.example/**
                         ^
            Correct the pattern.
            """
        ) { _ in
            try verification { _ = try Stubs { Stub(.get("api.example/**"), fileID: file, line: 1) } }
        },
        Mistake(
            "a template names a value that the request does not have",
            """
            unusableAnswer: the stub cannot answer GET https://a.example/: the template names {query.page}, which the \
            request does not have. Correct the answer of the stub, or the request
            """
        ) { _ in
            let stubs = try Stubs { Stub(.get("https://a.example/"), .template("{query.page}")) }
            return try await stubs.makeSession().mistake("https://a.example/", verifiedBy: stubs.verify)
        },
        Mistake(
            "the file of an answer is missing",
            """
            unusableAnswer: the stub cannot answer GET https://a.example/: open /shop/a.json: No such file or directory. \
            Correct the answer of the stub, or the request
            """
        ) { folder in
            let stubs = try Stubs { Stub(.get("https://a.example/"), .file(folder.url.appending(path: "a.json"))) }
            return try await stubs.makeSession().mistake("https://a.example/", verifiedBy: stubs.verify)
        },
        Mistake(
            "a value cannot be encoded as JSON",
            """
            unusableAnswer: the stub cannot answer GET https://a.example/: Unable to encode Double.nan directly in JSON. \
            Correct the answer of the stub, or the request
            """
        ) { _ in
            let stubs = try Stubs { Stub(.get("https://a.example/"), .json(Double.nan)) }
            return try await stubs.makeSession().mistake("https://a.example/", verifiedBy: stubs.verify)
        },
        Mistake(
            "the code of an answer throws an error",
            """
            unusableAnswer: the stub cannot answer GET https://a.example/: the fixture is missing. Correct the answer of \
            the stub, or the request
            """
        ) { _ in
            struct Fault: Error, CustomStringConvertible {
                let description = "the fixture is missing"
            }
            let stubs = try Stubs { Stub(.get("https://a.example/")) { _ in throw Fault() } }
            return try await stubs.makeSession().mistake("https://a.example/", verifiedBy: stubs.verify)
        },
    ]

    // MARK: - Recordings

    private static let recordings = [
        Mistake(
            "a recording has no entry for a request",
            """
            unrecorded: orders.har has no entry for GET https://api.example/orders/8; the nearest entries:
              GET https://api.example/orders/7: URL is `https://api.example/orders/8`, not `https://api.example/orders/7`
              GET https://api.example/orders: URL is `https://api.example/orders/8`, not `https://api.example/orders`
              GET https://api.example/users: URL is `https://api.example/orders/8`, not `https://api.example/users`
            Record it with WAYSTATION_RECORD="GET https://api.example/orders/8"
            """
        ) { folder in
            try await folder.record(
                "https://api.example/orders",
                "https://api.example/orders/7",
                "https://other.example/",
                "https://api.example/users"
            )
            return try await folder.recording(network: .unreachable).makeSession()
                .mistake("https://api.example/orders/8")
        },
        Mistake(
            "a request is made more often than it was recorded",
            """
            askedTooOften: GET https://api.example/a was made more often than orders.har has it (1 time): correct the code \
            under test, or record again with WAYSTATION_RECORD=record
            """
        ) { folder in
            try await folder.record("https://api.example/a")
            let recording = try folder.recording(network: .unreachable)
            _ = try await recording.makeSession().load("https://api.example/a")
            return try await recording.makeSession().mistake("https://api.example/a", verifiedBy: recording.verify)
        },
        Mistake(
            "entries are not used",
            """
            unusedEntries: the code under test did not make 2 requests that orders.har has; correct the code, or record \
            again with WAYSTATION_RECORD=record:
              GET https://api.example/b
              GET https://api.example/c
            """
        ) { folder in
            try await folder.record("https://api.example/a", "https://api.example/b", "https://api.example/c")
            let recording = try folder.recording(network: .unreachable)
            _ = try await recording.makeSession().load("https://api.example/a")
            return try verification { try recording.verify() }
        },
        Mistake(
            "the file of a recording is missing",
            """
            missingRecording: there is no recording to replay at /shop/orders.har: run the test once with \
            WAYSTATION_RECORD=record and a network, and commit the file
            """
        ) { folder in try verification { _ = try folder.recording(.replay, network: .unreachable) } },
        Mistake(
            "the file of a recording is not JSON",
            """
            damagedRecording: orders.har cannot be replayed: the file is not valid JSON: the file ends too early \
            (byte 1). Restore the file, or record it again with WAYSTATION_RECORD=record
            """
        ) { folder in
            try Data("{".utf8).write(to: folder.file)
            return try verification { _ = try folder.recording(network: .unreachable) }
        },
        Mistake(
            "the file of a recording is not a HAR",
            """
            damagedRecording: orders.har cannot be replayed: the file is not a valid HAR file: \
            log.entries[0].request.url is missing (byte 35). Restore the file, or record it again with \
            WAYSTATION_RECORD=record
            """
        ) { folder in
            try Data(#"{"log":{"version":"1.2","entries":[{"request":{"method":"GET"}}]}}"#.utf8).write(to: folder.file)
            return try verification { _ = try folder.recording(network: .unreachable) }
        },
        Mistake(
            "an entry has no body",
            """
            unusableAnswer: the entry GET https://a.example/ of orders.har cannot be replayed: the recording does not have \
            its body. Record again with WAYSTATION_RECORD=record
            """
        ) { folder in
            let har =
                #"{"log":{"version":"1.2","entries":[{"request":{"method":"GET","url":"https://a.example/"},"#
                + #""response":{"status":200,"content":{"size":4,"mimeType":"text/plain"}}}]}}"#
            try Data(har.utf8).write(to: folder.file)
            let recording = try folder.recording(network: .unreachable)
            return try await recording.makeSession().mistake("https://a.example/", verifiedBy: recording.verify)
        },
        Mistake(
            "the network fails while a request is recorded",
            """
            cannotRecord: GET https://a.example/ cannot be recorded, because the network failed: The operation could not \
            be completed. (NSURLErrorDomain error -1009.). Record with a network
            """
        ) { folder in
            let recording = try folder.recording(network: .unreachable)
            let session = try recording.makeSession()
            #expect(await session.failure("https://a.example/")?.code == .notConnectedToInternet)
            return try verification { try recording.verify() }
        },
        Mistake(
            "a secret would be written",
            """
            secretFound: GET https://a.example/echo was not recorded, because a secret of this run, the field Authorization, \
            is also in the response's body. If the response's body has it under a name, add that name to the redaction; if \
            the value is no secret, take its name out of the redaction
            """
        ) { folder in
            let stubs = try Stubs { Stub(.get("https://a.example/**")) { .ok($0.field("Authorization") ?? "") } }
            let recording = try folder.recording(network: stubs)
            var request = URLRequest(url: try #require(URL(string: "https://a.example/echo?token=other-secret")))
            request.setValue("Bearer secret-of-ada", forHTTPHeaderField: "Authorization")
            _ = try await recording.makeSession().data(for: request)
            return try verification { try recording.verify() }
        },
        Mistake(
            "the file of a recording cannot be written",
            """
            unwritableRecording: the recorded exchanges cannot be written: /shop/file/orders.har cannot be made: \
            check that its folder exists and is writable
            """
        ) { folder in
            let file = folder.url.appending(path: "file")
            try Data().write(to: file)
            let recording = try Recording(
                file.appending(path: "orders.har"),
                .record,
                network: ScriptedTransport { _ in .ok() },
                override: nil,
                now: { Date() }
            )
            _ = try await recording.makeSession().load("https://a.example/")
            return try verification { try recording.verify() }
        },
        Mistake(
            "WAYSTATION_RECORD has an unknown value",
            """
            invalidOverride: WAYSTATION_RECORD=yes is not valid: expected once, replay, record, passthrough, or a method \
            and a URL pattern such as `GET https://api.example/users/*`
            """
        ) { folder in try verification { _ = try folder.recording(network: .unreachable, override: "yes") } },
        Mistake(
            "WAYSTATION_RECORD has a URL pattern that is not valid",
            """
            invalidOverride: WAYSTATION_RECORD=GET https://**.*/a is not valid: expected once, replay, record, passthrough, \
            or a method and a URL pattern such as `GET https://api.example/users/*`
            """
        ) { folder in
            try verification { _ = try folder.recording(network: .unreachable, override: "GET https://**.*/a") }
        },
        Mistake(
            "a recording has expired",
            """
            orders.har has expired: its oldest entry was recorded at 2027-01-15T08:00:00Z. Record again with \
            WAYSTATION_RECORD=record
            """
        ) { folder in
            try await folder.record("https://a.example/")
            let now = Date(timeIntervalSince1970: 1_800_000_000 + 86_401)
            return try folder.recording(network: .unreachable, expiresAfter: .seconds(86_400), now: now).warnings
                .joined(separator: "\n")
        },
    ]

    // MARK: - Tests

    private static let tests = [
        Mistake(
            "a test without a trait loads",
            """
            outsideOfTest: URLSessionConfiguration.ofTest was used outside of a test with stubs or a recording: add the \
            trait .stubbed { … } or .recorded("…") to the test, or call withStubs
            """
        ) { _ in try await URLSession(configuration: .ofTest).mistake("https://api.example/") },
        Mistake(
            "a test with arguments has the trait of a recording",
            """
            parameterized: each mistake has a text that names its place and says what to do has arguments, so its cases \
            would share a recording: make a Recording with a file of its own in each case
            """
        ) { _ in
            let test = try #require(Test.current)
            let trait: RecordedTrait = .recorded("orders")
            let error = await #expect(throws: StubError.self) {
                try await trait.provideScope(for: test, testCase: Test.Case.current) {}
            }
            return (error?.description ?? "").replacing(test.name, with: test.displayName ?? test.name)
        },
        Mistake(
            "two tests have the same recording",
            """
            sharedRecording: empty() (\(file):3) and empty() (\(file):9) have the same recording, orders/empty.har: \
            rename one of the tests, or give one of them, or its suite, a folder of its own by a trait such as \
            .recorded("orders-2")
            """
        ) { folder in
            let recording = folder.url.appending(path: "orders/empty.har")
            for _ in 0..<2 { try RecordingOwners.claim(recording, for: "empty() (\(file):3)") }
            return try verification { try RecordingOwners.claim(recording, for: "empty() (\(file):9)") }
        },
    ]

    private static func verification(_ body: () throws -> Void) throws -> String {
        let error = #expect(throws: StubError.self, performing: body)
        return error?.description ?? ""
    }
}

extension URLSession {
    fileprivate func mistake(_ url: String, verifiedBy verify: (() throws -> Void)? = nil) async throws -> String {
        try await mistake(URLRequest(url: try #require(URL(string: url))), verifiedBy: verify)
    }

    /// The code and the message of the error of a load, which a verification reports as well.
    fileprivate func mistake(
        _ request: URLRequest,
        verifiedBy verify: (() throws -> Void)? = nil
    ) async throws -> String {
        let error = await #expect(throws: URLError.self) { try await self.data(for: request) }
        #expect(error?.code == .resourceUnavailable)
        let reason = error?.userInfo[NSUnderlyingErrorKey] as? StubError
        #expect(error?.localizedDescription == reason?.message)
        if let verify { #expect(throws: try #require(reason), performing: verify) }
        return reason?.description ?? ""
    }
}

extension RecordingFolder {
    fileprivate func record(_ urls: String...) async throws {
        let recording = try recording(network: ScriptedTransport { _ in .ok("recorded") })
        let session = try recording.makeSession()
        for url in urls { _ = try await session.load(url) }
        try recording.verify()
    }
}
