import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationRecording
import WaystationTesting

/// Each mistake with a recording, and the text that explains it.
@Suite(.timeLimit(.minutes(3)))
struct RecordingMessageTests {
    private let folder = RecordingFolder()

    private func record(_ urls: String...) async throws {
        let stubs = try Stubs { Stub(.any("*://*:*/**"), .ok("recorded")) }
        let recording = try folder.recording(network: stubs)
        let session = try recording.makeSession()
        for url in urls { _ = try await session.load(url) }
        try recording.verify()
    }

    @Test func `a request without an entry names the nearest entries`() async throws {
        try await record(
            "https://api.example/orders",
            "https://api.example/orders/7",
            "https://other.example/",
            "https://api.example/users"
        )
        let recording = try folder.recording(network: .unreachable)
        let error = try await recording.makeSession().failure("https://api.example/orders/8")
        let message = """
            orders.har has no entry for GET https://api.example/orders/8; the nearest entries:
              GET https://api.example/orders/7: URL is `https://api.example/orders/8`, not `https://api.example/orders/7`
              GET https://api.example/orders: URL is `https://api.example/orders/8`, not `https://api.example/orders`
              GET https://api.example/users: URL is `https://api.example/orders/8`, not `https://api.example/users`
            Record it with WAYSTATION_RECORD="GET https://api.example/orders/8"
            """
        #expect(error?.code == .resourceUnavailable)
        #expect(error?.localizedDescription == message)
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? StubError)?.code == .unrecorded)
        #expect(recording.verificationError?.message.hasPrefix(message) ?? false)
    }

    @Test func `a request that was made too often, and entries that were not used`() async throws {
        try await record("https://api.example/a", "https://api.example/b", "https://api.example/c")
        let recording = try folder.recording(network: .unreachable)
        let session = try recording.makeSession()
        _ = try await session.load("https://api.example/a")
        let often = """
            GET https://api.example/a was made more often than orders.har has it (1 time): correct the code under test, or \
            record again with WAYSTATION_RECORD=record
            """
        #expect(await session.failure("https://api.example/a")?.localizedDescription == often)
        #expect(
            recording.verificationError?.message == """
                \(often)
                the code under test did not make 2 requests that orders.har has; correct the code, or record again with \
                WAYSTATION_RECORD=record:
                  GET https://api.example/b
                  GET https://api.example/c
                """
        )
        let unused = try folder.recording(network: .unreachable)
        _ = try await unused.makeSession().load("https://api.example/a")
        _ = try await unused.makeSession().load("https://api.example/b")
        #expect(unused.verificationError?.code == .unusedEntries)
        #expect(unused.verificationError?.message.contains("did not make 1 request that") ?? false)
    }

    @Test func `a missing file is not replayed`() throws {
        let error = #expect(throws: StubError.self) { try folder.recording(.replay, network: .unreachable) }
        #expect(
            error?.description == """
                missingRecording: there is no recording to replay at \(folder.file.path): run the test once with \
                WAYSTATION_RECORD=record and a network, and commit the file
                """
        )
    }

    @Test func `a damaged file is refused with the place of the damage`() throws {
        try Data(#"{"log":{"version":"1.2","entries":[{"request":{"method":"GET"}}]}}"#.utf8).write(to: folder.file)
        let missing = #expect(throws: RecordingError.self) { try folder.recording(network: .unreachable) }
        #expect(missing?.code == .invalidHAR)
        #expect(missing?.message.contains("log.entries[0].request.url is missing") ?? false)
        try Data("{".utf8).write(to: folder.file)
        let cut = #expect(throws: RecordingError.self) { try folder.recording(network: .unreachable) }
        #expect(cut?.code == .damagedJSON)
    }

    @Test func `an entry without its body says so when it is asked for`() async throws {
        let har =
            #"{"log":{"version":"1.2","entries":[{"request":{"method":"GET","url":"https://a.example/"},"#
            + #""response":{"status":200,"content":{"size":4,"mimeType":"text/plain"}}}]}}"#
        try Data(har.utf8).write(to: folder.file)
        let failure = try await folder.recording(network: .unreachable).makeSession().failure("https://a.example/")
        #expect(
            failure?.localizedDescription == """
                the entry GET https://a.example/ of orders.har cannot be replayed: the recording does not have its body. \
                Record it again with WAYSTATION_RECORD=record
                """
        )
    }

    @Test func `recording without a network fails with the network's error and an explanation`() async throws {
        let recording = try folder.recording(network: .unreachable)
        let error = try await recording.makeSession().failure("https://a.example/")
        #expect(error?.code == .notConnectedToInternet)
        let message = error?.localizedDescription ?? ""
        #expect(message.hasPrefix("GET https://a.example/ cannot be recorded, because the network failed: "))
        #expect(message.hasSuffix(". Run the test with a network"))
        #expect(recording.verificationError?.code == .cannotRecord)
        #expect(!folder.exists)
    }

    @Test func `a secret that would be written is reported without it`() async throws {
        let stubs = try Stubs { Stub(.get("https://a.example/**")) { .ok($0.field("Authorization") ?? "") } }
        let recording = try folder.recording(network: stubs)
        var request = URLRequest(url: try #require(URL(string: "https://a.example/echo?token=other-secret")))
        request.setValue("Bearer secret-of-ada", forHTTPHeaderField: "Authorization")
        _ = try await recording.makeSession().data(for: request)
        #expect(
            recording.verificationError?.message == """
                GET https://a.example/echo was not recorded, because a secret that is left out of its fields is also in \
                the response's body: add the name of the item that has it to the redaction
                """
        )
    }

    @Test(arguments: ["yes", "GET", "GET /orders"])
    func `a value of the environment that is not valid is refused`(value: String) throws {
        let error = #expect(throws: StubError.self) { try folder.recording(network: .unreachable, override: value) }
        #expect(
            error?.message == """
                WAYSTATION_RECORD=\(value) is not valid: expected once, replay, record, passthrough, or a method and a URL \
                pattern such as `GET https://api.example/users/*`
                """
        )
    }

    @Test func `a recording that has expired warns, and still replays`() async throws {
        try await record("https://a.example/")
        let now = Date(timeIntervalSince1970: 1_800_000_000 + 86_401)
        #expect(try folder.recording(network: .unreachable, expiresAfter: .seconds(86_402), now: now).warnings.isEmpty)
        let recording = try folder.recording(network: .unreachable, expiresAfter: .seconds(86_400), now: now)
        #expect(
            recording.warnings == [
                "orders.har has expired: its oldest entry is of 2027-01-15T08:00:00Z. Record it again with "
                    + "WAYSTATION_RECORD=record"
            ]
        )
        _ = try await recording.makeSession().load("https://a.example/")
        try recording.verify()
    }

    @Test func `a file that cannot be written is reported`() async throws {
        let stubs = try Stubs { Stub(.any("*://*:*/**"), .ok()) }
        let file = folder.url.appending(path: "file")
        try Data().write(to: file)
        let recording = try Recording(
            file.appending(path: "orders.har"),
            .record,
            network: stubs,
            override: nil,
            now: { Date() }
        )
        _ = try await recording.makeSession().load("https://a.example/")
        let error = #expect(throws: RecordingError.self) { try recording.verify() }
        #expect(error?.code == .unwritable)
    }
}

extension Recording {
    var verificationError: StubError? {
        do {
            try verify()
            return nil
        } catch { return error as? StubError }
    }
}
