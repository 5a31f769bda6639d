import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting

/// Each mistake of a user, and the text that explains it.
@Suite(.timeLimit(.minutes(3)))
struct StubMessageTests {
    private let file = "WaystationTestingTests/StubMessageTests.swift"

    @Test func `a request that no stub answers fails, and names the nearest stubs with their reasons`() async throws {
        let line = #line + 2
        let stubs = try Stubs {
            Stub(.get("https://api.example/orders"))
            Stub(.post("https://api.example/orders").json("id", 8).field("Accept", "text/html"))
            Stub(.any("http://api.example/orders/*"))
            Stub(.delete("http://other.example/"))
        }
        let session = try stubs.makeSession()
        var request = URLRequest(url: try #require(URL(string: "https://api.example/orders")))
        request.httpMethod = "POST"
        request.httpBody = Data(#"{"id": 7}"#.utf8)
        let error = await #expect(throws: URLError.self) { try await session.data(for: request) }
        let message = """
            no stub answers POST https://api.example/orders; the nearest:
              GET https://api.example/orders (\(file):\(line)): method is POST, not GET
              POST https://api.example/orders (\(file):\(line + 1)): JSON at id is `7`, not `8`; field Accept is missing
              any method http://api.example/orders/* (\(file):\(line + 2)): scheme is https, not http; path is /orders, \
            not /orders/*
            Add a stub for the request, or change one of these.
            """
        #expect(error?.localizedDescription == message)
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? StubError)?.code == .noMatch)
        #expect(stubs.verificationError?.message == message)
    }

    @Test func `without stubs the message says so`() async throws {
        let stubs = try Stubs {}
        let error = try await stubs.makeSession().failure("https://a.example/")
        #expect(
            error?.localizedDescription
                == "no stub answers GET https://a.example/: there are no stubs. Add a stub for the request."
        )
    }

    @Test func `a stub that is asked too often or too seldom is reported with its place`() async throws {
        let line = #line + 2
        let stubs = try Stubs {
            Stub(.post("https://a.example/pay"), .ok()).once()
            Stub(.get("https://a.example/a")).times(2)
            Stub(.get("https://a.example/b")).times(1...3)
            Stub(.get("https://a.example/c")).atLeast(2)
            Stub(.get("https://a.example/d")).never()
            Stub(.get("https://a.example/e")).times(0...1)
        }
        let session = try stubs.makeSession()
        _ = try await session.load("https://a.example/pay", method: "POST")
        let advice = "correct the code under test, or allow more requests with times(_:)"
        let often = "expected POST https://a.example/pay (\(file):\(line)) once, was asked 2 times: \(advice)"
        #expect(await session.failure("https://a.example/pay", method: "POST")?.localizedDescription == often)
        let never = "expected GET https://a.example/d (\(file):\(line + 4)) not at all, was asked 1 time: \(advice)"
        #expect(await session.failure("https://a.example/d")?.localizedDescription == never)
        let seldom = "correct the code under test, or remove the stub"
        #expect(stubs.verificationError?.code == .several)
        #expect(
            stubs.verificationError?.message == """
                \(often)
                \(never)
                expected GET https://a.example/a (\(file):\(line + 1)) 2 times, was asked 0 times: \(seldom)
                expected GET https://a.example/b (\(file):\(line + 2)) 1 to 3 times, was asked 0 times: \(seldom)
                expected GET https://a.example/c (\(file):\(line + 3)) 2 times or more, was asked 0 times: \(seldom)
                """
        )
    }

    @Test func `a stub that is asked before its turn is reported`() async throws {
        let line = #line + 2
        let stubs = try Stubs(inOrder: true) {
            Stub(.post("https://a.example/login")).once()
            Stub(.get("https://a.example/me"))
            Stub(.post("https://a.example/logout"))
        }
        let session = try stubs.makeSession()
        let early =
            "GET https://a.example/me was asked before its turn: expected POST https://a.example/login "
            + "(\(file):\(line)) first. Correct the order of the requests or of the stubs, or make the stubs without inOrder"
        #expect(await session.failure("https://a.example/me")?.localizedDescription == early)
        _ = try await session.load("https://a.example/login", method: "POST")
        _ = try await session.load("https://a.example/me")
        _ = try await session.load("https://a.example/me")
        _ = try await session.load("https://a.example/logout", method: "POST")
        let late = await session.failure("https://a.example/me")
        #expect(late?.localizedDescription.contains("no stub answers GET https://a.example/me") ?? false)
        #expect(late?.localizedDescription.contains("(\(file):\(line + 1)): its turn is over") ?? false)
        #expect(stubs.verificationError?.code == .several)
    }

    @Test func `a pattern that is not valid is refused with its place`() throws {
        let line = #line + 1
        let error = #expect(throws: StubError.self) { try Stubs { Stub(.get("api.example/**")) } }
        #expect(error?.code == .invalidPattern)
        let start = "the pattern of the stub GET api.example/** (\(file):\(line)) is not valid: "
        #expect(error?.message.hasPrefix(start) ?? false)
    }

    @Test func `an answer that cannot be made fails the load with the reason`() async throws {
        struct Fault: Error, CustomStringConvertible {
            let description = "the fixture is missing"
        }
        let stubs = try Stubs {
            Stub(.get("https://a.example/template"), .template("{query.page}"))
            Stub(.get("https://a.example/file"), .file(URL(fileURLWithPath: "/nowhere/a.txt")))
            Stub(.get("https://a.example/json"), .json(Double.nan))
            Stub(.get("https://a.example/code")) { _ in throw Fault() }
        }
        let session = try stubs.makeSession()
        let expected = [
            "template": "its template names {query.page}, which the request does not have", "file": "/nowhere/a.txt",
            "json": "", "code": "the fixture is missing",
        ]
        for (name, reason) in expected {
            let message = try #require(await session.failure("https://a.example/\(name)")).localizedDescription
            #expect(message.hasPrefix("the stub cannot answer GET https://a.example/\(name): "))
            #expect(reason.isEmpty || message.contains(reason), "\(message)")
        }
        #expect(stubs.verificationError?.message.split(separator: "\n").count == 4)
    }
}

extension Stubs {
    fileprivate var verificationError: StubError? {
        do {
            try verify()
            return nil
        } catch { return error }
    }
}
